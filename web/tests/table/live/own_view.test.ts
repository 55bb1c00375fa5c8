// What the player alone may see counts for its own turn, and is asked for where nothing was told.
import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OwnSeat, OwnViewChanged, TableSnapshot } from "../../../src/api/messages";
import { ASKED_AFTER_MS, OwnView } from "../../../src/table/live/own_view";

const snapshot = signal<TableSnapshot | null>(null);
const seat = signal<OwnSeat | null>(null);
const read = vi.fn();
let own: OwnView;
let stop: () => void;

const inTurn = (turn: number, ...seats: number[]) =>
  ({ round: { round_id: "t.1", turn: { turn, seats } } }) as unknown as TableSnapshot;
const told = (turn: number, name: string, round_id = "t.1") =>
  ({ table_id: "t", round_id, turn, own_view: { name } }) as unknown as OwnViewChanged;

beforeEach(() => {
  vi.useFakeTimers();
  read.mockClear();
  snapshot.value = inTurn(1, 2);
  seat.value = { seat: 2 } as OwnSeat;
  own = new OwnView({ snapshot, seat, read });
  stop = own.follow();
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

test("a message may come before the event of its turn, or after it", () => {
  own.changed(told(1, "first"));
  expect(own.view.value).toEqual({ name: "first" });
  own.changed(told(2, "second"));
  expect(own.view.value).toBeNull();
  snapshot.value = inTurn(2, 2);
  expect(own.view.value).toEqual({ name: "second" });
  own.changed(told(1, "late"));
  expect(own.view.value).toEqual({ name: "second" });
});

test("what was told at an earlier turn is still seen, but decides nothing", () => {
  own.changed(told(1, "first"));
  snapshot.value = inTurn(2, 2);
  expect([own.seen.value, own.view.value]).toEqual([{ name: "first" }, null]);
});

test("nothing of an earlier round is shown", () => {
  own.changed(told(1, "first"));
  snapshot.value = { round: { round_id: "t.2", turn: { turn: 1, seats: [2] } } } as unknown as TableSnapshot;
  expect([own.seen.value, own.view.value]).toEqual([null, null]);
});

test("after messages may have been missed, a player who is asked reads again", () => {
  own.changed(told(1, "first"));
  own.mayHaveMissed();
  expect(read).toHaveBeenCalledTimes(1);
  snapshot.value = inTurn(2, 1);
  own.mayHaveMissed();
  expect(read).toHaveBeenCalledTimes(1);
});

test("a player who is asked and was told nothing asks once for each turn", () => {
  expect(own.asked.value).toBe(true);
  vi.advanceTimersByTime(ASKED_AFTER_MS);
  expect(read).toHaveBeenCalledTimes(1);
  snapshot.value = inTurn(1, 2);
  vi.advanceTimersByTime(5 * ASKED_AFTER_MS);
  expect(read).toHaveBeenCalledTimes(1);
  snapshot.value = inTurn(2, 1);
  vi.advanceTimersByTime(5 * ASKED_AFTER_MS);
  expect([own.asked.value, read.mock.calls.length]).toEqual([false, 1]);
  snapshot.value = inTurn(3, 2);
  own.changed(told(3, "told"));
  vi.advanceTimersByTime(5 * ASKED_AFTER_MS);
  expect(read).toHaveBeenCalledTimes(1);
});

test("a place on a waiting list is not about the round", () => {
  own.changed(told(1, "first"));
  own.changed({ table_id: "t", round_id: "", turn: 0, waiting: { position: 0 } } as unknown as OwnViewChanged);
  expect(own.view.value).toEqual({ name: "first" });
});
