// A line on which nothing is heard any more is found out within seconds, said to be lost, and comes back by itself.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection } from "../../src/api/connection";
import { ASKS_AFTER_MS, ASKS_QUIET_MS, SAYS_WITHIN_MS } from "../../src/api/silence";
import { FakeSocket, settled } from "./socket";

const BET = { request_id: "one", table_id: "french", round_id: "french.1", bets: [] };
const FOUND_OUT_MS = ASKS_AFTER_MS + SAYS_WITHIN_MS;
let line: Connection;
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
  line = new Connection("ws://here/v1/ws", { token: async () => null, shutOut: () => undefined });
  await FakeSocket.last.opens();
});

afterEach(() => {
  line.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a bet that nobody answers: the line is lost within seconds, and the bet goes over the next one", async () => {
  const answer = line.call("RouletteService.PlaceBets", BET);
  const dead = FakeSocket.last;
  vi.advanceTimersByTime(FOUND_OUT_MS - 1);
  expect(line.state.value).toBe("open");
  vi.advanceTimersByTime(1);
  expect([line.state.value, dead.readyState]).toEqual(["lost", 3]);
  vi.advanceTimersByTime(400);
  await FakeSocket.last.opens();
  expect(line.state.value).toBe("open");
  expect(FakeSocket.last.asked("RouletteService.PlaceBets").params).toEqual(BET);
  await FakeSocket.last.answers("RouletteService.PlaceBets", { stake: { stake_id: "s" } });
  expect(await answer).toEqual({ stake: { stake_id: "s" } });
});

test("what the dead connection says after all is not listened to", async () => {
  const answer = line.call("RouletteService.PlaceBets", BET);
  const dead = FakeSocket.last;
  vi.advanceTimersByTime(FOUND_OUT_MS + 400);
  await FakeSocket.last.opens();
  await dead.answers("RouletteService.PlaceBets", { stake: { stake_id: "old" } });
  await FakeSocket.last.answers("RouletteService.PlaceBets", { stake: { stake_id: "new" } });
  expect(await answer).toEqual({ stake: { stake_id: "new" } });
});

test("an answer that takes its time is waited for, as long as somebody is there", async () => {
  void line.call("RouletteService.PlaceBets", BET).catch(() => undefined);
  for (let times = 0; times < 5; times++) {
    vi.advanceTimersByTime(ASKS_AFTER_MS);
    await FakeSocket.last.answers("ping", { at: "2026-01-05T20:00:00Z" });
  }
  expect([line.state.value, FakeSocket.made.length]).toEqual(["open", 1]);
});

test("a line on which nothing is asked is asked now and then", async () => {
  vi.advanceTimersByTime(ASKS_QUIET_MS - 1);
  await FakeSocket.last.says({ method: "notice", params: { kind: "facts_missed" } });
  vi.advanceTimersByTime(ASKS_QUIET_MS - 1);
  expect(FakeSocket.last.all("ping")).toHaveLength(0);
  vi.advanceTimersByTime(1);
  expect(FakeSocket.last.all("ping")).toHaveLength(1);
  vi.advanceTimersByTime(SAYS_WITHIN_MS);
  expect(line.state.value).toBe("lost");
});

test("an event that is overdue is asked for", () => {
  line.doubt();
  line.doubt();
  expect(FakeSocket.last.all("ping")).toHaveLength(1);
  vi.advanceTimersByTime(SAYS_WITHIN_MS);
  expect(line.state.value).toBe("lost");
});

test("a device that says it is offline is believed at once, and one that is online again connects at once", async () => {
  heard.get("offline")?.();
  expect(line.state.value).toBe("lost");
  heard.get("online")?.();
  expect(FakeSocket.made).toHaveLength(2);
  // Another network: nobody knows whether the line goes over it.
  await FakeSocket.last.opens();
  heard.get("online")?.();
  expect(FakeSocket.last.all("ping")).toHaveLength(1);
});

test("whoever comes back to the page finds out how the line is", async () => {
  heard.get("visibilitychange")?.();
  expect(FakeSocket.last.all("ping")).toHaveLength(1);
  await FakeSocket.last.answers("ping", { at: "2026-01-05T20:00:00Z" });
  expect(line.state.value).toBe("open");
});

test("a line that was hung up is silent, and that is that", async () => {
  void line.call("RouletteService.PlaceBets", BET).catch(() => undefined);
  line.close();
  await settled();
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.made).toHaveLength(1);
});
