// Tables to offer where the player cannot sit down.
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { TableSummary } from "../../src/api/messages";

vi.mock("../../src/api/platform", () => ({}));
vi.mock("../../src/browser/routes", () => ({ address: () => "" }));

function table(id: string, mode: string, play: string, wheel: string, enabled = true): TableSummary {
  return {
    table_id: id,
    enabled,
    configuration: { game: "roulette", mode, play, rules: { wheel } },
  } as unknown as TableSummary;
}

const money = table("money", "MODE_REAL", "PLAY_INDIVIDUAL", "french");

describe("the demonstration of a table for money", () => {
  let demonstrationOf: typeof import("../../src/tables/similar_tables").demonstrationOf;
  let list: (...all: TableSummary[]) => void;

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    const { listedTables } = await import("../../src/tables/tables");
    list = (...all) => {
      listedTables.value = all;
    };
    ({ demonstrationOf } = await import("../../src/tables/similar_tables"));
  });

  it("has the same rules, or else the same kind of play", () => {
    const other = table("other", "MODE_DEMO", "PLAY_INDIVIDUAL", "american");
    const many = table("many", "MODE_DEMO", "PLAY_MULTI_PLAYER", "french");
    const same = table("same", "MODE_DEMO", "PLAY_INDIVIDUAL", "french");
    list(money, other, many, same);
    expect(demonstrationOf(money)?.table_id).toBe("same");
    list(money, other, many);
    expect(demonstrationOf(money)?.table_id).toBe("many");
    list(money, other);
    expect(demonstrationOf(money)?.table_id).toBe("other");
  });

  it("is neither disabled nor for money", () => {
    list(money, table("off", "MODE_DEMO", "PLAY_INDIVIDUAL", "french", false));
    expect(demonstrationOf(money)).toBeUndefined();
  });
});

describe("a player's individual table", () => {
  it("belongs to the listed table that it was made from", async () => {
    vi.stubGlobal("document", { documentElement: {} });
    const { listedId, listedTable, listedTables } = await import("../../src/tables/tables");
    listedTables.value = [money, table("french-0123456789abcdef", "MODE_REAL", "PLAY_MULTI_PLAYER", "french")];
    expect(listedId("money-0123456789abcdef")).toBe("money");
    expect(listedTable("money-0123456789abcdef")).toBe(money);
    expect(listedId("money")).toBe("money");
    // A listed table's id may look like one.
    expect(listedId("french-0123456789abcdef")).toBe("french-0123456789abcdef");
  });
});
