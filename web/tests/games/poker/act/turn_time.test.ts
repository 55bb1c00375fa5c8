// The usual time, then the time bank; and a clock that stands still (806/2015:43, 44).
import { expect, test } from "vitest";
import { turnTime } from "../../../../src/games/poker/act/turn_time";

const START = Date.parse("2026-11-18T12:00:00Z");
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();
const TURN = { turn: 1, seats: [2], extra_time_from: at(20), decide_by: at(50) };
const time = (turn: Parameters<typeof turnTime>[0], seconds: number) => turnTime(turn, 20_000, START + seconds * 1000);

test("no turn has no clock", () => {
  expect(time(null, 0)).toBeNull();
  expect(time({ turn: 1, seats: [2] }, 0)).toBeNull();
});

test("the usual time first, with what the time bank adds", () => {
  expect(time(TURN, 0)).toEqual({ stage: "usual", seconds: 20, share: 1, extra_seconds: 30 });
  expect(time(TURN, 15)).toEqual({ stage: "usual", seconds: 5, share: 0.25, extra_seconds: 30 });
});

test("a known time that lags never shows more than there is", () => {
  expect(time(TURN, -3)?.seconds).toBe(20);
});

test("then the time bank, until the decision is made for the player", () => {
  expect(time(TURN, 20)).toEqual({ stage: "extra", seconds: 30, share: 1, extra_seconds: 0 });
  expect(time(TURN, 35)).toEqual({ stage: "extra", seconds: 15, share: 0.5, extra_seconds: 0 });
  expect(time(TURN, 51)).toMatchObject({ stage: "over", seconds: 0 });
});

test("without a time bank the usual time is all", () => {
  const turn = { turn: 1, seats: [2], decide_by: at(20) };
  expect(time(turn, 19)).toEqual({ stage: "usual", seconds: 1, share: 0.05, extra_seconds: 0 });
  expect(time(turn, 21)).toMatchObject({ stage: "over", seconds: 0 });
});

test("while it stands still nothing is used up", () => {
  const turn = { ...TURN, paused_since: at(5) };
  expect(time(turn, 5)).toMatchObject({ stage: "paused", seconds: 15 });
  expect(time(turn, 500)).toMatchObject({ stage: "paused", seconds: 15 });
});
