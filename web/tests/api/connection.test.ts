// The connection reconnects, repeats unanswered calls, and resumes subscriptions.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection, type TableListener } from "../../src/api/connection";
import type { TableEvent, TableSnapshot } from "../../src/api/messages";
import { CallAbandoned, Refusal } from "../../src/api/refusal";
import { FakeSocket, settled } from "./socket";

const AT = "2026-01-05T20:00:00Z";
let connection: Connection;
let token: string | null;
let rejections: string[];

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.made = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("removeEventListener", () => undefined);
  vi.stubGlobal("document", { addEventListener: () => undefined, removeEventListener: () => undefined });
  token = null;
  rejections = [];
  connection = new Connection("ws://here/v1/ws", {
    token: async () => token,
    rejected: (reason) => rejections.push(reason),
  });
});

afterEach(() => {
  connection.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const snapshot = (seq: number) => ({ table_id: "french", seq: String(seq), at: AT, past: [], bets: [] });
const event = (seq: number, what: object = { table_emptied: {} }) =>
  ({ table_id: "french", seq: String(seq), at: AT, ...what }) as unknown as TableEvent;

function recorder(): { seen: string[]; listener: TableListener } {
  const seen: string[] = [];
  return {
    seen,
    listener: {
      snapshot: (table: TableSnapshot) => seen.push(`snapshot ${table.seq}`),
      event: (one: TableEvent) => seen.push(`event ${one.seq}`),
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

/** Lets time pass while the platform answers every ping. */
async function passes(socket: FakeSocket, ms: number): Promise<void> {
  for (const until = Date.now() + ms; Date.now() < until; ) {
    vi.advanceTimersByTime(Math.min(1000, until - Date.now()));
    if (socket.all("ping").length) await socket.answers("ping", { at: AT });
  }
}

const command = { request_id: "one", table_id: "french", device: { kind: "test", agent: "" } };

test("authenticates before any call", async () => {
  token = "ana's";
  const answer = connection.call("TableService.ListTables", { game: "roulette" });
  await FakeSocket.last.opens();
  expect(FakeSocket.last.sent.map((one) => one.method)).toEqual(["authenticate"]);
  await FakeSocket.last.answers("authenticate", {});
  await FakeSocket.last.answers("TableService.ListTables", { tables: [] });
  expect(await answer).toEqual({ tables: [] });
});

test("repeats an unanswered command on the next connection, with the same request id", async () => {
  const answer = connection.call("TableService.EnterTable", command);
  const first = await opened();
  const sent = first.asked("TableService.EnterTable").params;
  expect(sent).toMatchObject(command);
  first.breaks(1006);
  expect(connection.state.value).toBe("lost");
  const next = await back();
  expect(next.asked("TableService.EnterTable").params).toEqual(sent);
  await next.answers("TableService.EnterTable", { previous_session_id: "s" });
  expect(await answer).toEqual({ previous_session_id: "s" });
});

test("a command is in a sampled trace of its own, and nothing else is in one", async () => {
  const socket = await opened();
  for (const request_id of ["one", "two"]) {
    connection.call("TableService.EnterTable", { ...command, request_id }).catch(() => undefined);
  }
  connection.call("TableService.GetTable", { table_id: "french" }).catch(() => undefined);
  const traces = socket.all("TableService.EnterTable").map((call) => {
    const { params } = call as { params: { _meta: { traceparent: string } } };
    return params._meta.traceparent;
  });
  for (const header of traces) expect(header).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(new Set(traces.map((header) => header.split("-")[1])).size).toBe(2);
  expect(socket.asked("TableService.GetTable").params).toEqual({ table_id: "french" });
});

test("sends nothing on a closing socket", async () => {
  const socket = await opened();
  socket.readyState = 2;
  const answer = connection.call("TableService.EnterTable", command);
  expect(socket.sent).toEqual([]);
  socket.readyState = 1;
  socket.breaks(1006);
  await (await back()).answers("TableService.EnterTable", {});
  expect(await answer).toEqual({});
});

test("a refusal has its reason and facts, and is not repeated", async () => {
  const answer = connection.call("TableService.EnterTable", command).catch((error: unknown) => error);
  const socket = await opened();
  await socket.refuses("TableService.EnterTable", "INSUFFICIENT_FUNDS", { free_cents: "40" });
  const refusal = await answer;
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({ reason: "INSUFFICIENT_FUNDS", facts: { free_cents: "40" }, traceId: "t" });
  vi.advanceTimersByTime(5000);
  expect(socket.all("TableService.EnterTable")).toHaveLength(1);
});

test("repeats a command whose outcome is unknown with growing pauses, then gives up", async () => {
  const answer = connection.call("TableService.EnterTable", command).catch((error: unknown) => error);
  const socket = await opened();
  for (let tries = 1; tries < 6; tries++) {
    expect(socket.all("TableService.EnterTable")).toHaveLength(tries);
    await socket.refuses("TableService.EnterTable", "UNAVAILABLE");
    await passes(socket, 400 * 2 ** (tries - 1));
  }
  await socket.refuses("TableService.EnterTable", "UNAVAILABLE");
  expect(await answer).toMatchObject({ reason: "UNAVAILABLE" });
});

test("a subscription starts with a snapshot, continues with events, and resumes after a reconnect", async () => {
  const { seen, listener } = recorder();
  connection.watch("french", listener);
  const socket = await opened();
  expect(socket.asked("subscribe").params).toEqual({ table_id: "french" });
  await socket.answers("subscribe", { resumed: false, table: snapshot(7) });
  await socket.says({ method: "table", params: event(8) });
  socket.breaks(1006);
  const next = await back();
  expect(next.asked("subscribe").params).toEqual({ table_id: "french", from_seq: 8 });
  await next.answers("subscribe", { resumed: true });
  await next.says({ method: "table", params: event(9) });
  expect(seen).toEqual(["snapshot 7", "event 8", "event 9"]);
});

test("a gap in the sequence causes a new snapshot", async () => {
  const { seen, listener } = recorder();
  connection.watch("french", listener);
  const socket = await opened();
  await socket.answers("subscribe", { resumed: false, table: snapshot(7) });
  await socket.says({ method: "table", params: event(9) });
  expect(socket.asked("subscribe").params).toEqual({ table_id: "french" });
  await socket.answers("subscribe", { resumed: false, table: snapshot(12) });
  await socket.says({ method: "table", params: event(12) });
  await socket.says({ method: "table", params: event(13) });
  expect(seen).toEqual(["snapshot 7", "snapshot 12", "event 13"]);
});

test("a new owner's snapshot counts whatever its sequence number", async () => {
  const { seen, listener } = recorder();
  connection.watch("french", listener);
  const socket = await opened();
  await socket.answers("subscribe", { resumed: false, table: snapshot(7) });
  await socket.says({ method: "table", params: event(5, { snapshot_published: { snapshot: snapshot(5) } }) });
  await socket.says({ method: "table", params: event(6) });
  expect(seen).toEqual(["snapshot 7", "event 5", "event 6"]);
});

test("renews a token before it expires, on the same connection", async () => {
  token = "first";
  const socket = await opened();
  token = "second";
  await socket.says({ method: "notice", params: { kind: "token_expires" } });
  expect(socket.asked("refresh").params).toEqual({ token: "second" });
  expect(FakeSocket.made).toHaveLength(1);
});

test("reports once that a new login is needed", async () => {
  token = "ana's";
  (await opened()).breaks(4402);
  expect(rejections).toEqual(["LOGIN_NEEDED"]);
});

test("reconnects when a stopping gateway says so", async () => {
  const socket = await opened();
  await socket.says({ method: "notice", params: { kind: "draining", reconnect_after_ms: 3_000 } });
  socket.breaks(1012);
  vi.advanceTimersByTime(1_499);
  expect(FakeSocket.made).toHaveLength(1);
  vi.advanceTimersByTime(1_501);
  expect(FakeSocket.made).toHaveLength(2);
});

test("asks for a resync whenever private facts may have been missed", async () => {
  const read: string[] = [];
  connection.onResync(() => read.push("afresh"));
  const socket = await opened();
  await socket.says({ method: "notice", params: { kind: "facts_missed" } });
  expect(read).toEqual(["afresh", "afresh"]);
});

test("closing the connection rejects waiting calls", async () => {
  const answer = connection.call("TableService.ListTables", { game: "roulette" }).catch((error: unknown) => error);
  connection.close();
  await settled();
  expect(await answer).toBeInstanceOf(CallAbandoned);
});

test("sends nothing after it was closed", async () => {
  const socket = await opened();
  const unwatch = connection.watch("french", { snapshot: () => {}, event: () => {}, refused: () => {} });
  connection.close();
  const { length } = socket.sent;
  unwatch();
  await expect(connection.call("TableService.ListTables", { game: "roulette" })).rejects.toBeInstanceOf(CallAbandoned);
  expect(socket.sent).toHaveLength(length);
});
