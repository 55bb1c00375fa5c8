// The ball's path ends in the drawn pocket, depends on neither the number nor bets before, and never jumps.
import { expect, test } from "vitest";
import { pocketsOf } from "../../../../src/games/roulette/layout/pockets";
import { ballPath, hopsOf, POCKET, pocketAngle, TRACK } from "../../../../src/games/roulette/wheel/ball_path";

const TURN = 2 * Math.PI;
const KEYS = Array.from({ length: 60 }, (_, no) => `french-demo.${no}`);
const MANY_KEYS = Array.from({ length: 6000 }, (_, no) => `french-demo.${no}`);

/** The angle between two directions, the short way. */
function apart(one: number, other: number): number {
  const turned = (((one - other) % TURN) + TURN) % TURN;
  return Math.min(turned, TURN - turned);
}

test("the ball ends in the drawn pocket, on every wheel and in a spin of any length", () => {
  for (const name of ["WHEEL_AMERICAN_37", "WHEEL_AMERICAN_38", "WHEEL_FRENCH"] as const) {
    const count = pocketsOf(name).length;
    for (let pocket = 0; pocket < count; pocket += 1) {
      for (const lasts of [1.5, 5, 12]) {
        const path = ballPath("french-demo.7", pocket, count, lasts, 1.2);
        for (const after of [0, 1, 30]) {
          const ball = path.ball(lasts + after);
          expect(apart(ball.angle, path.wheel(lasts + after) + pocketAngle(pocket, count))).toBeLessThan(1e-9);
          expect(ball.radius).toBe(POCKET);
          expect(ball.height).toBe(0);
        }
      }
    }
  }
});

test("the same round and number make the same path, for late players too from the hops on", () => {
  for (const key of KEYS) {
    const [one, other, watched] = [ballPath(key, 3, 37, 5), ballPath(key, 3, 37, 5), ballPath(key, 3, 37, 5, 4.4)];
    for (let s = 0; s <= 6; s += 0.05) {
      expect(one.ball(s)).toEqual(other.ball(s));
      expect(watched.ball(s)).toEqual(one.ball(s));
    }
    expect(watched.wheel(0) % TURN).toBeCloseTo(4.4 % TURN, 6);
    expect(watched.wheel(watched.landings[0] ?? 0)).toBeCloseTo(one.wheel(one.landings[0] ?? 0), 9);
  }
});

test("seen from the drawn pocket, the ball hops alike whatever was drawn (903-B/2015:6.1.2)", () => {
  for (const key of KEYS) {
    const reference = ballPath(key, 0, 37, 5);
    for (const pocket of [1, 9, 18, 36]) {
      const path = ballPath(key, pocket, 37, 5);
      expect(path.landings).toEqual(reference.landings);
      for (let s = path.landings[0] ?? 0; s <= 5; s += 0.02) {
        const seen = path.ball(s).angle - path.wheel(s) - pocketAngle(pocket, 37);
        expect(apart(seen, reference.ball(s).angle - reference.wheel(s))).toBeLessThan(1e-6);
      }
    }
  }
});

test("the last pocket that the ball leaves lies equally often on either side of the drawn one", () => {
  // The last hop to another pocket, in whole pockets: no neighbour is nearly hit more often.
  const sides = new Map<number, number>();
  for (const key of MANY_KEYS) {
    const left = hopsOf(key)
      .map(({ advance }) => Math.round(advance))
      .findLast((pockets) => pockets !== 0);
    if (left !== undefined) sides.set(left, (sides.get(left) ?? 0) + 1);
  }
  const [before, behind] = [1, -1].map((side) =>
    [...sides].reduce((sum, [pockets, count]) => sum + (Math.sign(pockets) === side ? count : 0), 0),
  ) as [number, number];
  expect(before / (before + behind)).toBeGreaterThan(0.4);
  expect(before / (before + behind)).toBeLessThan(0.6);
});

test("hops vary, within what a ball can do", () => {
  const counts = new Set<number>();
  for (const key of MANY_KEYS) {
    const hops = hopsOf(key);
    counts.add(hops.length);
    expect(Math.abs(hops.reduce((sum, hop) => sum + hop.advance, 0))).toBeLessThan(20);
    hops.forEach((hop, no) => {
      if (no > 0) expect(hop.height).toBeLessThan(hops[no - 1]?.height ?? 0);
    });
  }
  expect([...counts].sort()).toEqual([3, 4, 5]);
});

test("nothing jumps: wheel and ball move no farther in a moment than their speed allows", () => {
  const fastest = { angle: 0, radius: 0, height: 0, wheel: 0 };
  const step = 0.004;
  for (const key of KEYS.slice(0, 20)) {
    for (const lasts of [2.5, 5, 9]) {
      const path = ballPath(key, 20, 38, lasts, 2);
      let [before, stood] = [path.ball(0), path.wheel(0)];
      for (let s = step; s < lasts + 2; s += step) {
        const [now, stands] = [path.ball(s), path.wheel(s)];
        for (const each of ["angle", "radius", "height"] as const) {
          fastest[each] = Math.max(fastest[each], Math.abs(now[each] - before[each]) / step);
        }
        fastest.wheel = Math.max(fastest.wheel, Math.abs(stands - stood) / step);
        [before, stood] = [now, stands];
      }
    }
  }
  // Two and a half turns a second on the rim at most; lengths are in radii of the wheel.
  expect(fastest.angle).toBeLessThan(16);
  expect(fastest.wheel).toBeLessThan(8);
  expect(fastest.radius).toBeLessThan(4);
  expect(fastest.height).toBeLessThan(4);
});

test("the ball is thrown on the rim, against the wheel, and leaves the rim before it strikes and lands", () => {
  for (const key of KEYS) {
    for (const lasts of [2, 5, 10]) {
      const path = ballPath(key, 11, 37, lasts, 0.3);
      expect(path.ball(0).radius).toBe(TRACK);
      expect(path.ball(0.2).angle).toBeGreaterThan(path.ball(0).angle);
      expect(path.wheel(lasts)).toBeLessThan(path.wheel(0));
      const moments = [0, path.leavesRim, path.strikes, ...path.landings, lasts];
      moments.forEach((s, no) => {
        if (no > 0) expect(s).toBeGreaterThan(moments[no - 1] ?? 0);
      });
      // It strikes one of the eight deflectors.
      expect(apart(path.ball(path.strikes).angle * 8, Math.PI)).toBeLessThan(1e-6);
    }
  }
});
