// A place on the waiting list: as the platform tells it, asked for again after a loss, and given up at once.
import "../../../page";
import { expect, test, vi } from "vitest";
import type { OwnViewChanged } from "../../../../src/api/messages";
import { Refusal } from "../../../../src/api/refusal";
import { WaitingPlace } from "../../../../src/games/poker/waiting/waiting_place";

const UNTIL = "2026-01-05T20:00:30Z";

function list() {
  const call = vi.fn(
    async (method: string): Promise<object> => (method.endsWith("JoinWaitingList") ? { position: 2, seat: 0 } : {}),
  );
  const listeners = new Set<(own: OwnViewChanged) => void>();
  const resyncs = new Set<() => void>();
  const place = new WaitingPlace("t", "MODE_DEMO", {
    call: call as never,
    onOwnView: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onResync: (listener) => {
      resyncs.add(listener);
      return () => resyncs.delete(listener);
    },
  });
  const stop = place.follow();
  const told = (waiting: object | undefined, table_id = "t") => {
    for (const listener of listeners) listener({ table_id, waiting } as unknown as OwnViewChanged);
  };
  const resync = async () => {
    for (const listener of resyncs) listener();
    await settled();
  };
  return { place, call, told, resync, stop };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

/** Has the next call wait for an answer that the test gives. */
function held(call: ReturnType<typeof list>["call"]): (value: object) => void {
  let answer: (value: object) => void = () => undefined;
  call.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
  return (value) => answer(value);
}

test("the place moves up as it is told, until a seat is kept", async () => {
  const { place, call, told } = list();
  await place.join();
  expect(place.place.value).toEqual({ position: 2, seat: 0 });
  told({ position: 1, seat: 0 });
  expect(place.place.value?.position).toBe(1);
  told({ position: 1, seat: 4, kept_until: UNTIL });
  expect(place.place.value).toEqual({ position: 1, seat: 4, kept_until: UNTIL });
  expect(call).toHaveBeenCalledTimes(1);
});

test("what is told of another table, or of a round, changes nothing", async () => {
  const { place, told } = list();
  await place.join();
  told({ position: 1, seat: 0 }, "other");
  told(undefined);
  expect(place.place.value?.position).toBe(2);
});

test("who is taken off the list is told so, and may join again", async () => {
  const { place, told } = list();
  await place.join();
  told({ position: 0, seat: 0 });
  expect([place.place.value, place.lost.value]).toEqual([null, true]);
  await place.join();
  expect([place.place.value?.position, place.lost.value]).toEqual([2, false]);
});

test("who leaves has lost nothing", async () => {
  const { place, call, told } = list();
  await place.join();
  const answer = held(call);
  const left = place.leave();
  told({ position: 0, seat: 0 });
  answer({});
  await left;
  expect([place.place.value, place.lost.value]).toEqual([null, false]);
  expect(call).toHaveBeenLastCalledWith("PokerService.LeaveWaitingList", { table_id: "t" });
});

test("what is told before the answer is newer than the answer", async () => {
  const { place, call, told } = list();
  const answer = held(call);
  const joined = place.join();
  told({ position: 1, seat: 4, kept_until: UNTIL });
  answer({ position: 2, seat: 0 });
  await joined;
  expect(place.place.value?.seat).toBe(4);
});

test("after messages may have been missed a player who waits asks, and nobody else", async () => {
  const { place, call, resync, stop } = list();
  await resync();
  expect(call).not.toHaveBeenCalled();
  await place.join();
  call.mockResolvedValueOnce({ position: 1, seat: 4 });
  await resync();
  expect(place.place.value?.seat).toBe(4);
  stop();
  await resync();
  expect(call).toHaveBeenCalledTimes(2);
});

test("an answer that comes after leaving is ignored", async () => {
  const { place, call, resync } = list();
  await place.join();
  const answer = held(call);
  await resync();
  await place.leave();
  answer({ position: 1, seat: 4 });
  await settled();
  expect(place.place.value).toBeNull();
});

test("a full list is said", async () => {
  const { place, call } = list();
  call.mockRejectedValueOnce(new Refusal("WAITING_LIST_FULL", { limit: "20" }, "", ""));
  await place.join();
  expect(place.refused.value).toContain("20");
  expect(place.place.value).toBeNull();
});
