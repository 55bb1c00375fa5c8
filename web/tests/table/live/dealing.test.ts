// Nothing reveals what cards decide before the platform says that they lie on the table.
import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TableSnapshot } from "../../../src/api/messages";
import { observeServerTime } from "../../../src/api/server_clock";
import { DealingClock, shownOutcomes } from "../../../src/table/live/dealing";

const NOW = "2026-11-18T12:00:00Z";
const dealt = (shown_at: string, round_id = "t.2") =>
  ({ round: { round_id, shown_at }, past_outcomes: [{ round_id: "t.2" }, { round_id: "t.1" }] }) as TableSnapshot;

beforeEach(() => {
  vi.useFakeTimers();
  observeServerTime(NOW);
});
afterEach(() => vi.useRealTimers());

test("cards are being dealt until the platform's time", () => {
  const snapshot = signal<TableSnapshot | null>(null);
  const clock = new DealingClock();
  const stop = clock.follow(snapshot);
  expect(clock.dealing.value).toBe(false);
  snapshot.value = dealt("2026-11-18T12:00:05Z");
  expect(clock.dealing.value).toBe(true);
  vi.advanceTimersByTime(4000);
  // Another round opens already: the cards of the last one still count.
  snapshot.value = { ...dealt("", "t.3"), round: { round_id: "t.3" } } as TableSnapshot;
  expect(clock.dealing.value).toBe(true);
  vi.advanceTimersByTime(1100);
  expect(clock.dealing.value).toBe(false);
  stop();
});

test("the newest outcome is left out until its cards lie on the table", () => {
  const table = dealt("2026-11-18T12:00:05Z");
  const at = (time: string) => shownOutcomes(table, Date.parse(time)).map(({ round_id }) => round_id);
  expect(at("2026-11-18T12:00:04Z")).toEqual(["t.1"]);
  expect(at("2026-11-18T12:00:05Z")).toEqual(["t.2", "t.1"]);
});
