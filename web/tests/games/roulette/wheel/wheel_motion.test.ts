// One spin after another: the wheel never jumps, the ball stays where it fell, and late players see the same.
import { expect, test } from "vitest";
import { pocketsOf } from "../../../../src/games/roulette/layout/pockets";
import { POCKET, pocketAngle } from "../../../../src/games/roulette/wheel/ball_path";
import { ballPathOf, idleMotion, restingAngle, spinMotion } from "../../../../src/games/roulette/wheel/wheel_motion";

const FRENCH = pocketsOf("WHEEL_FRENCH");
const TURN = 2 * Math.PI;
const at = (angle: number) => ((angle % TURN) + TURN) % TURN;
const spin = (key: string, number: string, from_ms: number) => ({ key, number, from_ms, until_ms: from_ms + 5000 });

test("between spins the wheel turns slowly, and the ball with it", () => {
  const idle = idleMotion(1, 10_000, restingAngle("17", FRENCH));
  const [now, later] = [idle.at(10_000), idle.at(12_000)];
  expect(now.wheel).toBe(1);
  expect(later.wheel).toBeLessThan(now.wheel);
  for (const seen of [now, later]) {
    expect(seen.ball?.radius).toBe(POCKET);
    expect((seen.ball?.angle ?? 0) - seen.wheel).toBeCloseTo(pocketAngle(8, 37), 9);
  }
  expect(idleMotion(0, 0, null).at(500).ball).toBeNull();
});

test("a spin starts at the wheel's current angle", () => {
  let before = idleMotion(0.7, 0, null);
  for (const [no, number] of ["17", "0", "26", "5"].entries()) {
    const from = 8000 + no * 20_000;
    const next = spinMotion(spin(`t.${no}`, number, from), FRENCH, before);
    expect(at(next.at(from).wheel)).toBeCloseTo(at(before.at(from).wheel), 6);
    const rest = next.at(from + 5000);
    const pocket = FRENCH.findIndex((each) => each.number === number);
    expect(at((rest.ball?.angle ?? 0) - rest.wheel)).toBeCloseTo(pocketAngle(pocket, 37), 6);
    before = next;
  }
});

test("a late player sees the ball hop and rest like everybody else", () => {
  const thrown = spin("t.9", "32", 50_000);
  const watched = spinMotion(thrown, FRENCH, idleMotion(2, 0, null));
  const late = spinMotion(thrown, FRENCH, idleMotion(0, 53_000, null));
  const lands = 50_000 + 1000 * (ballPathOf(thrown, FRENCH).landings[0] ?? 0);
  for (let ms = lands; ms < 60_000; ms += 50) expect(late.at(ms)).toEqual(watched.at(ms));
});

test("after a spin the wheel slows down to its idle speed", () => {
  const motion = spinMotion(spin("t.1", "9", 0), FRENCH, null);
  const speed = (ms: number) => motion.at(ms).wheel - motion.at(ms + 1000).wheel;
  const idle = idleMotion(0, 0, null);
  expect(speed(motion.steady_ms)).toBeCloseTo(idle.at(0).wheel - idle.at(1000).wheel, 2);
  expect(speed(1000)).toBeGreaterThan(4 * speed(motion.steady_ms));
  for (const corner of motion.corners_ms) expect(corner).toBeLessThanOrEqual(5000);
});
