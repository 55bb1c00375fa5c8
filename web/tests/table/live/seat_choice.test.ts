// A player who has to choose a seat sees which are free, and sits down on the one they choose, or is told that it is gone.
import "../../page";
import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TableListener } from "../../../src/api/connection";
import type { OwnSeat, TableEvent, TableSnapshot } from "../../../src/api/messages";
import { Refusal } from "../../../src/api/refusal";
import { LiveTable } from "../../../src/table/live/live_table";
import { settled } from "../../api/socket";

interface Call {
  method: string;
  params: Record<string, unknown>;
  resolve(answer: object): void;
  reject(error: Error): void;
}

const platform = vi.hoisted(() => ({
  calls: [] as Call[],
  listeners: [] as TableListener[],
  facts: [] as ((fact: object) => void)[],
  session: null as object | null,
}));

vi.mock("../../../src/api/platform", () => ({
  call: (method: string, params: Record<string, unknown>) =>
    new Promise((resolve, reject) => {
      if (method === "TableService.EnterTable") platform.calls.push({ method, params, resolve, reject });
      else if (method === "SessionService.GetSession" && platform.session) resolve({ session: platform.session });
      else resolve({});
    }),
  watch: (_: string, listener: TableListener) => {
    platform.listeners.push(listener);
    return () => {
      platform.listeners = platform.listeners.filter((each) => each !== listener);
    };
  },
  identity: signal({ kind: "player", playerId: "ana" }),
  enterAsGuest: () => Promise.resolve(),
  onFact: (listener: (fact: object) => void) => {
    platform.facts.push(listener);
    return () => undefined;
  },
  onResync: () => () => undefined,
  onOwnView: () => () => undefined,
  readBalance: () => Promise.resolve(),
  requestId: () => "id",
  updateBalance: () => undefined,
  checkConnection: () => undefined,
}));

let table: LiveTable;

beforeEach(() => {
  vi.stubGlobal("navigator", { userAgent: "test" });
  platform.calls = [];
  platform.listeners = [];
  platform.facts = [];
  platform.session = null;
  table = new LiveTable("places", false, true);
});

afterEach(() => table.close());

const shown = (taken: readonly number[], seats = 4, more: object = {}) =>
  ({
    table_id: "places",
    seq: "10",
    phase: "PHASE_IDLE",
    bets: [],
    past_outcomes: [],
    seated: taken.length,
    seats: Array.from({ length: seats }, (_, at) => ({ seat: at + 1, taken: taken.includes(at + 1) })),
    disabled_reason: "",
    ...more,
  }) as unknown as TableSnapshot;

async function sees(snapshot: TableSnapshot, own: OwnSeat | null = null): Promise<void> {
  for (const listener of [...platform.listeners]) listener.snapshot(snapshot, own);
  await settled();
}

async function event(what: object): Promise<void> {
  for (const listener of [...platform.listeners])
    listener.event({ table_id: "places", seq: "11", ...what } as unknown as TableEvent);
  await settled();
}

const taken = () => table.seatChoice.seats.value.filter((seat) => seat.taken).map(({ seat }) => seat);
const asked = () => platform.calls.map(({ params }) => params["seat"]);

async function sitsDown(seat: number): Promise<void> {
  platform.calls.shift()?.resolve({
    table: shown([seat]),
    own_seat: { seat, stakes: [] },
    session: { session_id: "s", state: "SESSION_STATE_ACTIVE" },
  });
  await settled();
}

async function sessionStarted(table_id: string): Promise<void> {
  for (const listener of platform.facts) listener({ session_started: { session: { session_id: "s", table_id } } });
  await settled();
}

async function isRefused(reason: string): Promise<void> {
  platform.calls.shift()?.reject(new Refusal(reason, {}, "", ""));
  await settled();
}

test("nobody sits down before they have chosen a seat", async () => {
  await sees(shown([2]));
  expect([table.state.value, taken(), asked()]).toEqual(["choosing", [2], []]);
  await event({ seat_taken: { seat: 3 } });
  await event({ seat_left: { seat: 2 } });
  expect(taken()).toEqual([3]);
  await event({ snapshot_published: { snapshot: shown([1, 4]) } });
  expect(taken()).toEqual([1, 4]);
});

test("a chosen seat is asked for, and followed from then on as the player's own", async () => {
  await sees(shown([2]));
  void table.take(3);
  await settled();
  expect([asked(), table.seatChoice.taking.value]).toEqual([[3], 3]);
  await sitsDown(3);
  expect([table.state.value, table.ownSeat.value?.seat]).toEqual(["playing", 3]);
  expect([table.seatChoice.table.value, table.seatChoice.taking.value]).toEqual([null, null]);
  expect(platform.listeners).toHaveLength(1);
});

test("a seat that another player was faster to take is told, and the others can be chosen", async () => {
  await sees(shown([]));
  void table.take(3);
  await settled();
  await isRefused("SEAT_TAKEN");
  expect(table.seatChoice.lost.value).toBe(3);
  // The seats stay shown until they are known anew.
  expect(table.seatChoice.seats.value).toHaveLength(4);
  await sees(shown([3]));
  expect([table.state.value, taken(), table.refusal.value]).toEqual(["choosing", [3], null]);
  void table.take(0);
  await settled();
  expect(table.seatChoice.lost.value).toBeNull();
  await sitsDown(1);
  expect(table.state.value).toBe("playing");
});

test("any other refusal ends the choice", async () => {
  await sees(shown([]));
  void table.take(3);
  await settled();
  await isRefused("ACCOUNT_UNKNOWN");
  expect([table.state.value, table.refusal.value?.reason, table.seatChoice.table.value]).toEqual([
    "refused",
    "ACCOUNT_UNKNOWN",
    null,
  ]);
  expect(platform.listeners).toHaveLength(0);
});

test.each([
  ["where no seat has to be chosen", shown([], 0), null],
  ["where the player sits already", shown([2]), { seat: 2 }],
  ["at a table that is switched off", shown([], 4, { disabled_reason: "maintenance" }), null],
])("the player is not asked %s", async (_, snapshot, own) => {
  await sees(snapshot, own as OwnSeat | null);
  expect([asked(), table.state.value]).toEqual([[undefined], "entering"]);
});

test("while the player sits down the table only says who sits where", async () => {
  await sees(shown([2]));
  void table.take(3);
  await settled();
  await sees(shown([2, 3]), { seat: 3 } as OwnSeat);
  await sessionStarted("places");
  expect([asked(), taken(), table.state.value]).toEqual([[3], [2, 3], "entering"]);
  await sitsDown(3);
  expect([table.state.value, asked()]).toEqual(["playing", []]);
});

test("a seat that an earlier page has asked for is the player's once the platform says so", async () => {
  await sees(shown([2]));
  await event({ seat_taken: { seat: 3 } });
  platform.session = { session_id: "s", state: "SESSION_STATE_ACTIVE" };
  await sessionStarted("elsewhere");
  expect([asked(), table.state.value]).toEqual([[], "choosing"]);
  await sessionStarted("places");
  await sitsDown(3);
  expect([table.state.value, table.ownSeat.value?.seat]).toEqual(["playing", 3]);
});

test.each([
  ["is over", { session_id: "s", state: "SESSION_STATE_ENDED" }],
  ["cannot be read", null],
])("word of a session that %s begins no other", async (_, session) => {
  await sees(shown([2]));
  platform.session = session;
  await sessionStarted("places");
  expect([asked(), table.state.value]).toEqual([[], "choosing"]);
});

test("a table that cannot be followed is refused", async () => {
  platform.listeners[0]?.refused(new Refusal("TABLE_UNKNOWN", {}, "", ""));
  expect([table.state.value, table.refusal.value?.reason]).toEqual(["refused", "TABLE_UNKNOWN"]);
});

test("after a session has ended the player chooses again", async () => {
  await sees(shown([2]));
  void table.take(3);
  await settled();
  await sitsDown(3);
  table.join();
  await sees(shown([2]));
  expect([table.state.value, asked()]).toEqual(["choosing", []]);
});

test("at a table of one's own there is nothing to choose", async () => {
  table.close();
  platform.listeners = [];
  table = new LiveTable("alone", false);
  await settled();
  expect([asked(), platform.listeners.length]).toEqual([[undefined], 0]);
});
