// One click leads to a table where one can bet at once.
import { describe, expect, it } from "vitest";
import type { TableSnapshot, TableSummary } from "../../src/api/messages";
import { goodTable } from "../../src/lobby/choice";

function table(id: string, play: string, mode = "MODE_DEMO", enabled = true): TableSummary {
  return { table_id: id, enabled, configuration: { mode, play, seats: 3 } } as TableSummary;
}
const NOW = Date.parse("2026-01-01T12:00:00Z");
const resting = (seated = 0) => ({ seated, phase: "PHASE_RESTING" }) as TableSnapshot;
const busy = (seated: number) => ({ seated, phase: "PHASE_DRAWN" }) as TableSnapshot;
const betting = (seated: number, left_s: number) =>
  ({
    seated,
    phase: "PHASE_BETTING",
    round: { closes_at: new Date(NOW + left_s * 1000).toISOString() },
  }) as TableSnapshot;

const MANY = [table("many-a", "PLAY_MULTI_PLAYER"), table("many-b", "PLAY_MULTI_PLAYER")];
const ALL = [...MANY, table("alone", "PLAY_INDIVIDUAL"), table("money", "PLAY_MULTI_PLAYER", "MODE_REAL")];

function led(tables: TableSummary[], live: Record<string, TableSnapshot> = {}): string | undefined {
  return goodTable(tables, live, NOW)?.table_id;
}

describe("the table for one who only wants to play", () => {
  it("is one of his own, however many people play elsewhere", () => {
    expect(led(ALL)).toBe("alone");
    expect(led(ALL, { "many-a": betting(2, 15) })).toBe("alone");
  });

  it("is never one for money, nor one that is switched off", () => {
    expect(led([table("money", "PLAY_INDIVIDUAL", "MODE_REAL")])).toBeUndefined();
    expect(led([table("off", "PLAY_INDIVIDUAL", "MODE_DEMO", false)])).toBeUndefined();
  });

  it("takes bets, and goes on doing so for long enough", () => {
    expect(led(MANY, { "many-a": betting(1, 8), "many-b": busy(2) })).toBe("many-a");
    expect(led(MANY, { "many-a": betting(1, 9), "many-b": betting(2, 7) })).toBe("many-a");
    expect(led(MANY, { "many-a": resting(), "many-b": betting(2, 3) })).toBe("many-a");
  });

  it("is where most people are, of those that take bets", () => {
    expect(led(MANY, { "many-a": betting(2, 12), "many-b": betting(1, 14) })).toBe("many-a");
  });

  it("is not full", () => {
    expect(led(MANY, { "many-a": betting(3, 15), "many-b": busy(1) })).toBe("many-b");
  });

  it("is any demonstration while nothing is known of them", () => {
    expect(led(MANY)).toBe("many-b");
  });
});
