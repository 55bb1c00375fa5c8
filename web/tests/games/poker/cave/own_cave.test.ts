// Commands about the cave: one at a time, none twice, and the cave is read again after each.
import "../../../page";
import { signal } from "@preact/signals";
import { expect, test, vi } from "vitest";
import type { TableEvent } from "../../../../src/api/messages";
import { Refusal } from "../../../../src/api/refusal";
import { PlayerCave } from "../../../../src/games/poker/cave/own_cave";

function cave(answers: Record<string, () => Promise<unknown>> = {}) {
  const listeners: { event?: (event: TableEvent) => void; snapshot?: (table: unknown, own: unknown) => void } = {};
  const read = vi.fn(async () => ({ own_seat: { seat: 1, cave: { cave_cents: "7000" } } }));
  const call = vi.fn(async (method: string, _: object) =>
    method === "TableService.GetTable" ? read() : (answers[method]?.() ?? {}),
  );
  let ids = 0;
  const table = {
    tableId: signal("t"),
    snapshot: signal({ caves: [{ seat: 1, standing: "CAVE_STANDING_PLAYING" }] }),
    ownSeat: signal({ seat: 1, cave: { cave_cents: "5000" } }),
    mode: signal("MODE_REAL"),
    onEvent: (listener: (event: TableEvent) => void) => {
      listeners.event = listener;
      return () => undefined;
    },
    onSnapshot: (listener: (table: unknown, own: unknown) => void) => {
      listeners.snapshot = listener;
      return () => undefined;
    },
  };
  const own = new PlayerCave(table as never, { call: call as never, requestId: () => `id-${++ids}` });
  own.follow();
  const bought = () =>
    call.mock.calls.filter(([method]) => method === "PokerService.BuyIn").map(([, params]) => params);
  return { own, call, read, listeners, bought };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("a purchase is sent once, and the cave is read again", async () => {
  const { own, bought, read } = cave();
  const [first, second] = await Promise.all([own.buyIn(2000), own.buyIn(2000)]);
  expect([first, second]).toEqual([true, false]);
  expect(bought()).toEqual([{ table_id: "t", request_id: "id-1", amount_cents: "2000" }]);
  await settled();
  expect(read).toHaveBeenCalledTimes(1);
  expect(own.own.value?.cave_cents).toBe("7000");
});

test("a purchase without an answer is the same command when it is tried again (G3)", async () => {
  const answer = vi.fn(async () => ({}));
  answer.mockRejectedValueOnce(new Refusal("", {}, "", "lost"));
  const { own, bought } = cave({ "PokerService.BuyIn": answer });
  expect(await own.buyIn(2000)).toBe(false);
  expect(await own.buyIn(2000)).toBe(true);
  expect(await own.buyIn(2000)).toBe(true);
  expect(bought().map((params) => (params as { request_id: string }).request_id)).toEqual(["id-1", "id-1", "id-2"]);
});

test("a refusal says what is possible, and another amount is another command", async () => {
  const facts = { amount_cents: "1", minimum_cents: "4000", maximum_cents: "10000" };
  const answer = vi.fn(async () => ({}));
  answer.mockRejectedValueOnce(new Refusal("CAVE_OUT_OF_BOUNDS", facts, "", ""));
  const { own, bought } = cave({ "PokerService.BuyIn": answer });
  expect(await own.buyIn(1)).toBe(false);
  expect(own.refused.value).toMatch(/40,00.€ a 100,00.€/);
  await own.buyIn(1);
  expect(bought().map((params) => (params as { request_id: string }).request_id)).toEqual(["id-1", "id-2"]);
  expect(own.refused.value).toBe("");
});

test("presence", async () => {
  const { own, call } = cave();
  await own.setPresence("PRESENCE_AWAY");
  await own.setPresence("PRESENCE_PLAYING", true);
  expect(
    call.mock.calls.filter(([method]) => method === "PokerService.SetPresence").map(([, params]) => params),
  ).toEqual([
    { table_id: "t", presence: "PRESENCE_AWAY", posts_big_blind: false },
    { table_id: "t", presence: "PRESENCE_PLAYING", posts_big_blind: true },
  ]);
});

test("is read when caves change and when a hand begins or ends, not with every decision", async () => {
  const { listeners, read } = cave();
  for (const event of [{ caves_changed: {} }, { round_dealt: {} }, { round_settled: {} }, { move_made: {} }]) {
    listeners.event?.(event as never);
  }
  await settled();
  expect(read).toHaveBeenCalledTimes(3);
});

test("a whole snapshot is newer than an answer that is still awaited", async () => {
  const { own, listeners } = cave();
  listeners.event?.({ caves_changed: {} } as never);
  listeners.snapshot?.({}, { cave: { cave_cents: "9000" } });
  await settled();
  expect(own.own.value?.cave_cents).toBe("9000");
});
