// The list of tables, while games or the connection do not answer.
import { beforeEach, expect, test, vi } from "vitest";
import type { TableSummary } from "../../src/api/messages";
import { CallAbandoned, Refusal } from "../../src/api/refusal";

const platform = vi.hoisted(() => ({ answers: {} as Record<string, string[] | Error> }));

vi.mock("../../src/api/platform", () => ({
  call: async (_: string, { game }: { game: string }) => {
    const answer = platform.answers[game];
    if (answer instanceof Error) throw answer;
    return { tables: (answer ?? []).map((table_id) => ({ table_id, configuration: { game } })), at: "" };
  },
}));
vi.mock("../../src/api/server_clock", () => ({ observeServerTime: () => undefined }));
vi.mock("../../src/game_interface/registered_games", () => ({ gameIds: () => ["roulette", "poker"] }));

const { listedTables, readTables } = await import("../../src/tables/tables");

const shown = () => listedTables.value?.map(({ table_id }: TableSummary) => table_id);
const silent = new Refusal("UNAVAILABLE", {}, "", "");

beforeEach(() => {
  listedTables.value = null;
  platform.answers = { roulette: ["wheel"], poker: ["holdem", "omaha"] };
});

test("the tables of every game are listed", async () => {
  await readTables();
  expect(shown()).toEqual(["wheel", "holdem", "omaha"]);
});

test("a game that does not answer keeps the tables that were known", async () => {
  platform.answers["poker"] = silent;
  await readTables();
  expect(shown()).toEqual(["wheel"]);
  platform.answers["poker"] = ["holdem"];
  await readTables();
  platform.answers = { roulette: ["wheel", "other"], poker: silent };
  await readTables();
  expect(shown()).toEqual(["wheel", "other", "holdem"]);
});

test("a connection that is closed meanwhile lists nothing, rather than a part", async () => {
  platform.answers["poker"] = new CallAbandoned();
  await expect(readTables()).rejects.toBeInstanceOf(CallAbandoned);
  expect(shown()).toBeUndefined();
});

test("without any answer it is said why, and nothing changes", async () => {
  await readTables();
  platform.answers = { roulette: silent, poker: silent };
  await expect(readTables()).rejects.toBe(silent);
  expect(shown()).toEqual(["wheel", "holdem", "omaha"]);
});
