// A dead connection is detected within seconds, reported as lost, and replaced.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection } from "../../src/api/connection";
import { ANSWER_WITHIN_MS, PING_WHILE_IDLE_MS, PING_WHILE_WAITING_MS } from "../../src/api/heartbeat";
import { FakeSocket, settled } from "./socket";

const COMMAND = { request_id: "one", table_id: "french", device: { kind: "test", agent: "" } };
const FOUND_OUT_MS = PING_WHILE_WAITING_MS + ANSWER_WITHIN_MS;
let connection: Connection;
let heard: Map<string, () => void>;

beforeEach(async () => {
  vi.useFakeTimers();
  FakeSocket.made = [];
  heard = new Map();
  const listens = (name: string, listener: () => void) => heard.set(name, listener);
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("addEventListener", listens);
  vi.stubGlobal("removeEventListener", () => undefined);
  vi.stubGlobal("document", { addEventListener: listens, removeEventListener: () => undefined });
  connection = new Connection("ws://here/v1/ws", { token: async () => null, rejected: () => undefined });
  await FakeSocket.last.opens();
});

afterEach(() => {
  connection.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("an unanswered command: the connection counts as lost within seconds, and the command goes over the next one", async () => {
  const answer = connection.call("TableService.EnterTable", COMMAND);
  const dead = FakeSocket.last;
  vi.advanceTimersByTime(FOUND_OUT_MS - 1);
  expect(connection.state.value).toBe("open");
  vi.advanceTimersByTime(1);
  expect([connection.state.value, dead.readyState]).toEqual(["lost", 3]);
  vi.advanceTimersByTime(400);
  await FakeSocket.last.opens();
  expect(connection.state.value).toBe("open");
  expect(FakeSocket.last.asked("TableService.EnterTable").params).toMatchObject(COMMAND);
  await FakeSocket.last.answers("TableService.EnterTable", { previous_session_id: "s" });
  expect(await answer).toEqual({ previous_session_id: "s" });
});

test("ignores what the dead connection still delivers", async () => {
  const answer = connection.call("TableService.EnterTable", COMMAND);
  const dead = FakeSocket.last;
  vi.advanceTimersByTime(FOUND_OUT_MS + 400);
  await FakeSocket.last.opens();
  await dead.answers("TableService.EnterTable", { previous_session_id: "old" });
  await FakeSocket.last.answers("TableService.EnterTable", { previous_session_id: "new" });
  expect(await answer).toEqual({ previous_session_id: "new" });
});

test("waits for a slow answer as long as pings are answered", async () => {
  void connection.call("TableService.EnterTable", COMMAND).catch(() => undefined);
  for (let times = 0; times < 5; times++) {
    vi.advanceTimersByTime(PING_WHILE_WAITING_MS);
    await FakeSocket.last.answers("ping", { at: "2026-01-05T20:00:00Z" });
  }
  expect([connection.state.value, FakeSocket.made.length]).toEqual(["open", 1]);
});

test("pings an idle connection now and then", async () => {
  vi.advanceTimersByTime(PING_WHILE_IDLE_MS - 1);
  await FakeSocket.last.says({ method: "notice", params: { kind: "facts_missed" } });
  vi.advanceTimersByTime(PING_WHILE_IDLE_MS - 1);
  expect(FakeSocket.last.all("ping")).toHaveLength(0);
  vi.advanceTimersByTime(1);
  expect(FakeSocket.last.all("ping")).toHaveLength(1);
  vi.advanceTimersByTime(ANSWER_WITHIN_MS);
  expect(connection.state.value).toBe("lost");
});

test("pings when an expected event is overdue", () => {
  connection.checkAlive();
  connection.checkAlive();
  expect(FakeSocket.last.all("ping")).toHaveLength(1);
  vi.advanceTimersByTime(ANSWER_WITHIN_MS);
  expect(connection.state.value).toBe("lost");
});

test("reacts at once when the device goes offline and online", async () => {
  heard.get("offline")?.();
  expect(connection.state.value).toBe("lost");
  heard.get("online")?.();
  expect(FakeSocket.made).toHaveLength(2);
  // On another network the connection may be dead.
  await FakeSocket.last.opens();
  heard.get("online")?.();
  expect(FakeSocket.last.all("ping")).toHaveLength(1);
});

test("pings when the page becomes visible again", async () => {
  heard.get("visibilitychange")?.();
  expect(FakeSocket.last.all("ping")).toHaveLength(1);
  await FakeSocket.last.answers("ping", { at: "2026-01-05T20:00:00Z" });
  expect(connection.state.value).toBe("open");
});

test("does nothing after it was closed", async () => {
  void connection.call("TableService.EnterTable", COMMAND).catch(() => undefined);
  connection.close();
  await settled();
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.made).toHaveLength(1);
});
