// Where one cannot sit down, one is shown where one can.
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { TableSummary } from "../../src/api/messages";

vi.mock("../../src/api/platform", () => ({}));
vi.mock("../../src/routes", () => ({ address: () => "" }));
vi.mock("../../src/games", () => ({ GAMES: {} }));

function table(id: string, mode: string, play: string, wheel: string, enabled = true): TableSummary {
  return {
    table_id: id,
    enabled,
    configuration: { game: "roulette", mode, play, rules: { wheel } },
  } as unknown as TableSummary;
}

const money = table("money", "MODE_REAL", "PLAY_INDIVIDUAL", "french");

describe("the demonstration of a table for money", () => {
  let demoOf: typeof import("../../src/table/other_tables").demoOf;
  let list: (...all: TableSummary[]) => void;

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    const { tables } = await import("../../src/lobby/tables");
    list = (...all) => {
      tables.value = all;
    };
    ({ demoOf } = await import("../../src/table/other_tables"));
  });

  it("is the one with the same rules, then the one that is played in the same way", () => {
    const other = table("other", "MODE_DEMO", "PLAY_INDIVIDUAL", "american");
    const many = table("many", "MODE_DEMO", "PLAY_MULTI_PLAYER", "french");
    const same = table("same", "MODE_DEMO", "PLAY_INDIVIDUAL", "french");
    list(money, other, many, same);
    expect(demoOf(money)?.table_id).toBe("same");
    list(money, other, many);
    expect(demoOf(money)?.table_id).toBe("many");
    list(money, other);
    expect(demoOf(money)?.table_id).toBe("other");
  });

  it("is none that is switched off, nor one for money", () => {
    list(money, table("off", "MODE_DEMO", "PLAY_INDIVIDUAL", "french", false));
    expect(demoOf(money)).toBeUndefined();
  });
});

describe("a player's own table", () => {
  it("is known by the one it was made from", async () => {
    vi.stubGlobal("document", { documentElement: {} });
    const { listedId, listedTable, tables } = await import("../../src/lobby/tables");
    tables.value = [money, table("french-0123456789abcdef", "MODE_REAL", "PLAY_MULTI_PLAYER", "french")];
    expect(listedId("money-0123456789abcdef")).toBe("money");
    expect(listedTable("money-0123456789abcdef")).toBe(money);
    expect(listedId("money")).toBe("money");
    // A listed table may look like one.
    expect(listedId("french-0123456789abcdef")).toBe("french-0123456789abcdef");
  });
});
