// The lobby's main button leads to a table that takes bets at once.
import { describe, expect, it } from "vitest";
import type { TableSnapshot, TableSummary } from "../../src/api/messages";
import { recommendedTable } from "../../src/lobby/recommended_table";

function table(id: string, play: string, mode = "MODE_DEMO", enabled = true): TableSummary {
  return { table_id: id, enabled, configuration: { mode, play, seats: 3 } } as TableSummary;
}
const NOW = Date.parse("2026-01-01T12:00:00Z");
const resting = (seated = 0) => ({ seated, phase: "PHASE_IDLE" }) as TableSnapshot;
const busy = (seated: number) => ({ seated, phase: "PHASE_DRAWN" }) as TableSnapshot;
const betting = (seated: number, left_s: number) =>
  ({
    seated,
    phase: "PHASE_BETTING",
    round: { closes_at: new Date(NOW + left_s * 1000).toISOString() },
  }) as TableSnapshot;

const MANY = [table("many-a", "PLAY_MULTI_PLAYER"), table("many-b", "PLAY_MULTI_PLAYER")];
const ALL = [...MANY, table("alone", "PLAY_INDIVIDUAL"), table("money", "PLAY_MULTI_PLAYER", "MODE_REAL")];

function recommended(tables: TableSummary[], live: Record<string, TableSnapshot> = {}): string | undefined {
  return recommendedTable(tables, live, NOW)?.table_id;
}

describe("the recommended table", () => {
  it("is an individual one, however many people play elsewhere", () => {
    expect(recommended(ALL)).toBe("alone");
    expect(recommended(ALL, { "many-a": betting(2, 15) })).toBe("alone");
  });

  it("is neither for money nor disabled", () => {
    expect(recommended([table("money", "PLAY_INDIVIDUAL", "MODE_REAL")])).toBeUndefined();
    expect(recommended([table("off", "PLAY_INDIVIDUAL", "MODE_DEMO", false)])).toBeUndefined();
  });

  it("takes bets for long enough", () => {
    expect(recommended(MANY, { "many-a": betting(1, 8), "many-b": busy(2) })).toBe("many-a");
    expect(recommended(MANY, { "many-a": betting(1, 9), "many-b": betting(2, 7) })).toBe("many-a");
    expect(recommended(MANY, { "many-a": resting(), "many-b": betting(2, 3) })).toBe("many-a");
  });

  it("has most players, of those that take bets", () => {
    expect(recommended(MANY, { "many-a": betting(2, 12), "many-b": betting(1, 14) })).toBe("many-a");
  });

  it("is not full", () => {
    expect(recommended(MANY, { "many-a": betting(3, 15), "many-b": busy(1) })).toBe("many-b");
  });

  it("is of the first game where others are as good", () => {
    const of = (game: string, id: string) => {
      const { configuration, ...rest } = table(id, "PLAY_INDIVIDUAL");
      return { ...rest, configuration: { ...configuration, game } } as TableSummary;
    };
    expect(recommended([of("first", "one"), of("first", "two"), of("second", "three")])).toBe("two");
  });

  it("is any demonstration table while no live state is known", () => {
    expect(recommended(MANY)).toBe("many-b");
  });
});
