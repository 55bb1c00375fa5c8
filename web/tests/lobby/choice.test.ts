// One click leads to a table where one can play at once.
import { describe, expect, it } from "vitest";
import type { TableSnapshot, TableSummary } from "../../src/api/messages";
import { goodTable } from "../../src/lobby/choice";

function table(id: string, play: string, mode = "MODE_DEMO", enabled = true): TableSummary {
  return { table_id: id, enabled, configuration: { mode, play, seats: 3 } } as TableSummary;
}
const seated = (count: number) => ({ seated: count }) as TableSnapshot;

const ALL = [
  table("many-a", "PLAY_MULTI_PLAYER"),
  table("many-b", "PLAY_MULTI_PLAYER"),
  table("alone", "PLAY_INDIVIDUAL"),
  table("money", "PLAY_MULTI_PLAYER", "MODE_REAL"),
];

describe("the table for one who only wants to play", () => {
  it("is one of his own where nobody plays", () => {
    expect(goodTable(ALL, {})?.table_id).toBe("alone");
  });

  it("is where most people are", () => {
    expect(goodTable(ALL, { "many-a": seated(2), "many-b": seated(1) })?.table_id).toBe("many-a");
  });

  it("is not full", () => {
    expect(goodTable(ALL, { "many-a": seated(3), "many-b": seated(1) })?.table_id).toBe("many-b");
    expect(goodTable(ALL, { "many-a": seated(3) })?.table_id).toBe("alone");
  });

  it("is never one for money, nor one that is switched off", () => {
    expect(goodTable([table("money", "PLAY_INDIVIDUAL", "MODE_REAL")], {})).toBeUndefined();
    expect(goodTable([table("off", "PLAY_INDIVIDUAL", "MODE_DEMO", false)], {})).toBeUndefined();
  });

  it("waits for people where there is nothing else", () => {
    expect(goodTable(ALL.slice(0, 2), {})?.table_id).toBe("many-b");
  });
});
