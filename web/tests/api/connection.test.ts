// The line to the platform: comes back, sends again, goes on where it stood.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection, type TableListener } from "../../src/api/connection";
import type { TableEvent, TableSnapshot } from "../../src/api/messages";
import { Abandoned, Refusal } from "../../src/api/refusal";
import { FakeSocket, settled } from "./socket";

const AT = "2026-01-05T20:00:00Z";
let line: Connection;
let token: string | null;
let shutOut: string[];

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.made = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("removeEventListener", () => undefined);
  vi.stubGlobal("document", { addEventListener: () => undefined, removeEventListener: () => undefined });
  token = null;
  shutOut = [];
  line = new Connection("ws://here/v1/ws", {
    token: async () => token,
    shutOut: (reason) => shutOut.push(reason),
  });
});

afterEach(() => {
  line.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const picture = (seq: number) => ({ table_id: "french", seq: String(seq), at: AT, past: [], bets: [] });
const event = (seq: number, what: object = { table_resting: {} }) =>
  ({ table_id: "french", seq: String(seq), at: AT, ...what }) as unknown as TableEvent;

function listening(): { seen: string[]; listener: TableListener } {
  const seen: string[] = [];
  return {
    seen,
    listener: {
      picture: (table: TableSnapshot) => seen.push(`picture ${table.seq}`),
      happened: (one: TableEvent) => seen.push(`event ${one.seq}`),
      refused: (refusal: Refusal) => seen.push(`refused ${refusal.reason}`),
    },
  };
}

async function opened(): Promise<FakeSocket> {
  const socket = FakeSocket.last;
  await socket.opens();
  if (token) await socket.answers("authenticate", { subject: "ana" });
  return socket;
}

async function back(): Promise<FakeSocket> {
  vi.advanceTimersByTime(20_000);
  return opened();
}

/** Time in which the far end answers whenever it is asked whether it is there. */
async function passes(socket: FakeSocket, ms: number): Promise<void> {
  for (const until = Date.now() + ms; Date.now() < until; ) {
    vi.advanceTimersByTime(Math.min(1000, until - Date.now()));
    if (socket.all("ping").length) await socket.answers("ping", { at: AT });
  }
}

const bet = { request_id: "one", table_id: "french", round_id: "french.1", bets: [] };

test("a token is shown before anything is asked", async () => {
  token = "ana's";
  const answer = line.call("TableService.ListTables", { game: "roulette" });
  await FakeSocket.last.opens();
  expect(FakeSocket.last.sent.map((one) => one.method)).toEqual(["authenticate"]);
  await FakeSocket.last.answers("authenticate", {});
  await FakeSocket.last.answers("TableService.ListTables", { tables: [] });
  expect(await answer).toEqual({ tables: [] });
});

test("a command without an answer is sent again on the next connection, under the same name", async () => {
  const answer = line.call("RouletteService.PlaceBets", bet);
  (await opened()).breaks(1006);
  expect(line.state.value).toBe("lost");
  const next = await back();
  expect(next.asked("RouletteService.PlaceBets").params).toEqual(bet);
  await next.answers("RouletteService.PlaceBets", { stake: { stake_id: "s" } });
  expect(await answer).toEqual({ stake: { stake_id: "s" } });
});

test("a connection that is about to end is told nothing any more", async () => {
  const socket = await opened();
  socket.readyState = 2;
  const answer = line.call("RouletteService.PlaceBets", bet);
  expect(socket.sent).toEqual([]);
  socket.readyState = 1;
  socket.breaks(1006);
  await (await back()).answers("RouletteService.PlaceBets", {});
  expect(await answer).toEqual({});
});

test("a refusal comes with its reason and facts, and is not sent again", async () => {
  const answer = line.call("RouletteService.PlaceBets", bet).catch((error: unknown) => error);
  const socket = await opened();
  await socket.refuses("RouletteService.PlaceBets", "INSUFFICIENT_FUNDS", { free_cents: "40" });
  const refusal = await answer;
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({ reason: "INSUFFICIENT_FUNDS", facts: { free_cents: "40" }, traceId: "t" });
  vi.advanceTimersByTime(5000);
  expect(socket.all("RouletteService.PlaceBets")).toHaveLength(1);
});

test("while it is not known whether a command acted it is sent again, with growing pauses, and then given up", async () => {
  const answer = line.call("RouletteService.PlaceBets", bet).catch((error: unknown) => error);
  const socket = await opened();
  for (let tries = 1; tries < 6; tries++) {
    expect(socket.all("RouletteService.PlaceBets")).toHaveLength(tries);
    await socket.refuses("RouletteService.PlaceBets", "UNAVAILABLE");
    await passes(socket, 400 * 2 ** (tries - 1));
  }
  await socket.refuses("RouletteService.PlaceBets", "UNAVAILABLE");
  expect(await answer).toMatchObject({ reason: "UNAVAILABLE" });
});

test("a table is seen as a picture, then event by event, and goes on where it stood", async () => {
  const { seen, listener } = listening();
  line.watch("french", listener);
  const socket = await opened();
  expect(socket.asked("subscribe").params).toEqual({ table_id: "french" });
  await socket.answers("subscribe", { resumed: false, table: picture(7) });
  await socket.says({ method: "table", params: event(8) });
  socket.breaks(1006);
  const next = await back();
  expect(next.asked("subscribe").params).toEqual({ table_id: "french", from_seq: 8 });
  await next.answers("subscribe", { resumed: true });
  await next.says({ method: "table", params: event(9) });
  expect(seen).toEqual(["picture 7", "event 8", "event 9"]);
});

test("a gap is never passed over: everything is asked for anew", async () => {
  const { seen, listener } = listening();
  line.watch("french", listener);
  const socket = await opened();
  await socket.answers("subscribe", { resumed: false, table: picture(7) });
  await socket.says({ method: "table", params: event(9) });
  expect(socket.asked("subscribe").params).toEqual({ table_id: "french" });
  await socket.answers("subscribe", { resumed: false, table: picture(12) });
  await socket.says({ method: "table", params: event(12) });
  await socket.says({ method: "table", params: event(13) });
  expect(seen).toEqual(["picture 7", "picture 12", "event 13"]);
});

test("another owner's picture is believed whatever its number", async () => {
  const { seen, listener } = listening();
  line.watch("french", listener);
  const socket = await opened();
  await socket.answers("subscribe", { resumed: false, table: picture(7) });
  await socket.says({ method: "table", params: event(5, { table_taken: { snapshot: picture(5) } }) });
  await socket.says({ method: "table", params: event(6) });
  expect(seen).toEqual(["picture 7", "event 5", "event 6"]);
});

test("before a token ends a newer one is shown, and the connection stays", async () => {
  token = "first";
  const socket = await opened();
  token = "second";
  await socket.says({ method: "notice", params: { kind: "token_expires" } });
  expect(socket.asked("refresh").params).toEqual({ token: "second" });
  expect(FakeSocket.made).toHaveLength(1);
});

test("one who has to log in anew is told, once", async () => {
  token = "ana's";
  (await opened()).breaks(4402);
  expect(shutOut).toEqual(["LOGIN_NEEDED"]);
});

test("a gateway that stops says when to come back", async () => {
  const socket = await opened();
  await socket.says({ method: "notice", params: { kind: "draining", reconnect_after_ms: 3_000 } });
  socket.breaks(1012);
  vi.advanceTimersByTime(1_499);
  expect(FakeSocket.made).toHaveLength(1);
  vi.advanceTimersByTime(1_501);
  expect(FakeSocket.made).toHaveLength(2);
});

test("whenever private facts may have been missed, their listeners read anew", async () => {
  const read: string[] = [];
  line.onAfresh(() => read.push("afresh"));
  const socket = await opened();
  await socket.says({ method: "notice", params: { kind: "facts_missed" } });
  expect(read).toEqual(["afresh", "afresh"]);
});

test("hanging up leaves nobody waiting", async () => {
  const answer = line.call("TableService.ListTables", { game: "roulette" }).catch((error: unknown) => error);
  line.close();
  await settled();
  expect(await answer).toBeInstanceOf(Abandoned);
});

test("nothing is said on a line that was hung up", async () => {
  const socket = await opened();
  const unwatch = line.watch("french", { picture: () => {}, happened: () => {}, refused: () => {} });
  line.close();
  const { length } = socket.sent;
  unwatch();
  await expect(line.call("TableService.ListTables", { game: "roulette" })).rejects.toBeInstanceOf(Abandoned);
  expect(socket.sent).toHaveLength(length);
});
