// Tables in tabs: those that are not on the screen are followed, as far as to know what calls for the player.
import "../../page";
import { expect, test, vi } from "vitest";
import type { PlayerFact, TableSnapshot } from "../../../src/api/messages";
import { OpenTables } from "../../../src/table/tabs/open_tables";

interface Listener {
  snapshot(table: TableSnapshot, own: { seat: number } | null): void;
  event(event: object): void;
  refused(refusal: unknown): void;
}

function opened() {
  const watched = new Map<string, Listener>();
  const facts: ((fact: PlayerFact) => void)[] = [];
  const ended = vi.fn();
  const tables = new OpenTables({
    watch: ((id: string, listener: Listener) => {
      watched.set(id, listener);
      return () => void (watched.get(id) === listener && watched.delete(id));
    }) as never,
    onFact: (listener) => {
      facts.push(listener);
      return () => undefined;
    },
    ended,
  });
  const sit = (id: string, seat = 2) => {
    const hide = tables.show(id);
    tables.opened({ listedId: id, tableId: id, sessionId: `session-${id}`, seat });
    return hide;
  };
  const fact = (what: object) => {
    for (const listener of facts) listener(what as PlayerFact);
  };
  const calls = () => Object.fromEntries(tables.all.value.map(({ listedId, call }) => [listedId, call]));
  return { tables, watched, sit, fact, calls, ended };
}

function table(...seats: number[]): TableSnapshot {
  const turn = seats.length ? { turn: { turn: 1, seats } } : {};
  return { seq: "1", seats: [], past_outcomes: [], bets: [], round: { round_id: "r", ...turn } } as never;
}

const moved = (seq: number, ...seats: number[]) => ({
  seq: String(seq),
  move_made: { round_id: "r", view: {}, turn: { turn: seq, seats } },
});

test("the table on the screen follows itself", () => {
  const { watched, sit, tables } = opened();
  sit("a");
  expect([...watched.keys()]).toEqual([]);
  expect(tables.all.value).toHaveLength(1);
});

test("the turn at another table is marked for as long as it is", () => {
  const { watched, sit, calls } = opened();
  sit("a")();
  sit("b");
  expect([...watched.keys()]).toEqual(["a"]);
  watched.get("a")?.snapshot(table(5), { seat: 2 });
  expect(calls()).toEqual({ a: null, b: null });
  watched.get("a")?.event(moved(2, 2));
  expect(calls()).toEqual({ a: "turn", b: null });
  watched.get("a")?.event(moved(3, 5));
  expect(calls()).toEqual({ a: null, b: null });
});

test("a public snapshot says nothing of the seat, which stays the player's", () => {
  const { watched, sit, calls } = opened();
  sit("a")();
  sit("b");
  watched.get("a")?.snapshot(table(2), null);
  expect(calls()["a"]).toBe("turn");
  watched.get("a")?.event({ seq: "9", snapshot_published: { snapshot: table(3) } });
  expect(calls()["a"]).toBeNull();
});

test("going back to a table follows the one that was left, and takes its mark away", () => {
  const { watched, sit, calls } = opened();
  sit("a")();
  const hide = sit("b");
  watched.get("a")?.snapshot(table(2), { seat: 2 });
  hide();
  sit("a");
  expect(calls()).toEqual({ a: null, b: null });
  expect([...watched.keys()]).toEqual(["b"]);
});

test("while the screen shows no table, none is followed: the lobby follows tables itself", () => {
  const { watched, sit, tables } = opened();
  sit("a")();
  sit("b")();
  expect([...watched.keys()]).toEqual([]);
  expect(tables.all.value.map(({ listedId }) => listedId)).toEqual(["a", "b"]);
});

test("sitting down again keeps the tab's place, with the new session", () => {
  const { sit, tables } = opened();
  sit("a");
  sit("b");
  tables.opened({ listedId: "a", tableId: "a", sessionId: "next", seat: 4 });
  expect(tables.all.value.map(({ listedId, sessionId }) => [listedId, sessionId])).toEqual([
    ["a", "next"],
    ["b", "session-b"],
  ]);
});

test("a table that was left has no tab, and is not followed", () => {
  const { watched, sit, tables } = opened();
  sit("a")();
  sit("b");
  tables.left("a");
  expect(tables.all.value.map(({ listedId }) => listedId)).toEqual(["b"]);
  expect([...watched.keys()]).toEqual([]);
});

test("a notice at another table is marked, one at the table on the screen is not", () => {
  const { sit, fact, calls } = opened();
  sit("a")();
  sit("b");
  fact({ session_notice: { session_id: "session-a" } });
  fact({ session_notice: { session_id: "session-b" } });
  fact({ session_notice: { session_id: "another" } });
  expect(calls()).toEqual({ a: "notice", b: null });
});

test("a session that ends at another table is said, and its tab is gone", () => {
  const { sit, fact, tables, ended } = opened();
  sit("a")();
  sit("b");
  fact({ session_ended: { session: { session_id: "session-b" } } });
  expect(ended).not.toHaveBeenCalled();
  fact({ session_ended: { session: { session_id: "session-a" } } });
  expect(ended).toHaveBeenCalledTimes(1);
  expect(ended.mock.calls[0]?.[0]).toMatchObject({ listedId: "a" });
  expect(tables.all.value.map(({ listedId }) => listedId)).toEqual(["b"]);
});

test("nothing is left for somebody else", () => {
  const { watched, sit, tables } = opened();
  sit("a")();
  sit("b");
  tables.forget();
  expect(tables.all.value).toEqual([]);
  expect([...watched.keys()]).toEqual([]);
});
