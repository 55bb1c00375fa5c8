// The racetrack holds every pocket in the wheel's order, and its areas are the series.
import { describe, expect, test } from "vitest";
import { callBetNumbers, racetrackGeometry } from "../../../../src/games/roulette/racetrack/racetrack_geometry";
import { layoutOf } from "../layouts";

const layout = layoutOf("WHEEL_FRENCH");

for (const [name, width, height] of [
  ["lying", 860, 180],
  ["upright", 340, 420],
] as const) {
  describe(name, () => {
    const drawn = racetrackGeometry(layout, width, height, 40);

    test("the pockets run clockwise, within the given size", () => {
      expect(drawn.pockets.map(({ number }) => number)).toEqual(layout.pockets.map(({ number }) => number));
      let turned = 0;
      drawn.pockets.forEach((pocket, index) => {
        const next = drawn.pockets[(index + 1) % drawn.pockets.length] ?? pocket;
        turned += (pocket.x - width / 2) * (next.y - height / 2) - (next.x - width / 2) * (pocket.y - height / 2);
        expect(pocket.x).toBeGreaterThan(0);
        expect(pocket.x).toBeLessThan(width);
        expect(pocket.y).toBeGreaterThan(0);
        expect(pocket.y).toBeLessThan(height);
      });
      // With y downwards a clockwise way has a positive sum.
      expect(turned).toBeGreaterThan(0);
    });

    test("the zero is at the end: on the right, or on top", () => {
      const zero = drawn.pockets[0];
      if (name === "lying") expect(zero?.x).toBe(Math.max(...drawn.pockets.map(({ x }) => x)));
      else expect(zero?.y).toBe(Math.min(...drawn.pockets.map(({ y }) => y)));
    });

    test("neighbours are equally far apart", () => {
      const straight = drawn.pockets.map((pocket, index) => {
        const next = drawn.pockets[(index + 1) % drawn.pockets.length] ?? pocket;
        return Math.hypot(next.x - pocket.x, next.y - pocket.y);
      });
      expect(Math.max(...straight) / Math.min(...straight)).toBeLessThan(1.1);
    });

    test("each series has its area within the ring", () => {
      expect(drawn.areas.map(({ place }) => place).sort()).toEqual(["orphelins", "tiers", "voisins"]);
      for (const { x, y } of drawn.areas) {
        expect(x).toBeGreaterThan(40);
        expect(x).toBeLessThan(width - 40);
        expect(y).toBeGreaterThan(40);
        expect(y).toBeLessThan(height - 40);
      }
    });
  });
}

test("the series cover what the regulation demands: 17, 12 and 8 numbers, each number once", () => {
  const [voisins, tiers, orphelins] = ["voisins", "tiers", "orphelins"].map((name) => {
    const bet = layout.call_bets.find(({ place }) => place === name);
    return bet ? callBetNumbers(bet, layout) : new Set<string>();
  });
  expect([voisins?.size, tiers?.size, orphelins?.size]).toEqual([17, 12, 8]);
  expect(new Set([...(voisins ?? []), ...(tiers ?? []), ...(orphelins ?? [])]).size).toBe(37);
});

test("a table without call bets has no areas", () => {
  expect(racetrackGeometry(layoutOf("WHEEL_AMERICAN_37"), 800, 200, 40).areas).toEqual([]);
});
