// One spin after another: the wheel never jumps, the ball stays where it fell, and whoever comes late sees the same.
import { expect, test } from "vitest";
import { POCKET, pocketAngle } from "../../../src/games/roulette/ball_path";
import { pocketsOf } from "../../../src/games/roulette/pockets";
import { idling, lyingAt, pathOf, spinning } from "../../../src/games/roulette/wheel_motion";

const FRENCH = pocketsOf("WHEEL_FRENCH");
const TURN = 2 * Math.PI;
const at = (angle: number) => ((angle % TURN) + TURN) % TURN;
const spin = (key: string, number: string, from_ms: number) => ({ key, number, from_ms, until_ms: from_ms + 5000 });

test("idle, the wheel turns slowly and the ball with it", () => {
  const idle = idling(1, 10_000, lyingAt("17", FRENCH));
  const [now, later] = [idle.at(10_000), idle.at(12_000)];
  expect(now.wheel).toBe(1);
  expect(later.wheel).toBeLessThan(now.wheel);
  for (const seen of [now, later]) {
    expect(seen.ball?.radius).toBe(POCKET);
    expect((seen.ball?.angle ?? 0) - seen.wheel).toBeCloseTo(pocketAngle(8, 37), 9);
  }
  expect(idling(0, 0, null).at(500).ball).toBeNull();
});

test("a spin begins where the wheel stands, one after another", () => {
  let before = idling(0.7, 0, null);
  for (const [no, number] of ["17", "0", "26", "5"].entries()) {
    const from = 8000 + no * 20_000;
    const next = spinning(spin(`t.${no}`, number, from), FRENCH, before);
    expect(at(next.at(from).wheel)).toBeCloseTo(at(before.at(from).wheel), 6);
    const rest = next.at(from + 5000);
    const pocket = FRENCH.findIndex((each) => each.number === number);
    expect(at((rest.ball?.angle ?? 0) - rest.wheel)).toBeCloseTo(pocketAngle(pocket, 37), 6);
    before = next;
  }
});

test("whoever comes in the middle sees what the others see when the ball hops and lies", () => {
  const thrown = spin("t.9", "32", 50_000);
  const watched = spinning(thrown, FRENCH, idling(2, 0, null));
  const late = spinning(thrown, FRENCH, idling(0, 53_000, null));
  const lands = 50_000 + 1000 * (pathOf(thrown, FRENCH).landings[0] ?? 0);
  for (let ms = lands; ms < 60_000; ms += 50) expect(late.at(ms)).toEqual(watched.at(ms));
});

test("after a spin the wheel comes down to its idle speed, at which it is left to turn", () => {
  const motion = spinning(spin("t.1", "9", 0), FRENCH, null);
  const speed = (ms: number) => motion.at(ms).wheel - motion.at(ms + 1000).wheel;
  const idle = idling(0, 0, null);
  expect(speed(motion.steady_ms)).toBeCloseTo(idle.at(0).wheel - idle.at(1000).wheel, 2);
  expect(speed(1000)).toBeGreaterThan(4 * speed(motion.steady_ms));
  for (const corner of motion.corners_ms) expect(corner).toBeLessThanOrEqual(5000);
});
