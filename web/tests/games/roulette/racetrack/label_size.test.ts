// The text of a place is as large as its outline allows.
import { expect, test } from "vitest";
import { fittingSize } from "../../../../src/games/roulette/racetrack/label_size";

const box = (width: number, height: number) => [
  { x: 0, y: 0 },
  { x: width, y: 0 },
  { x: width, y: height },
  { x: 0, y: height },
];
const line = (width: number, baseline = 0.35) => ({ text: "", width, baseline });

test("where there is room it is as large as it may be", () => {
  expect(fittingSize(box(200, 100), { x: 100, y: 50 }, [line(4)], 17)).toBe(17);
});

test("a wide text is smaller, and touches no side", () => {
  const size = fittingSize(box(50, 100), { x: 25, y: 50 }, [line(4)], 17);
  expect(size * 4).toBeLessThan(50);
  expect(size * 4).toBeGreaterThan(40);
});

test("so is one that stands away from the middle, or is too high", () => {
  const aside = fittingSize(box(50, 100), { x: 20, y: 50 }, [line(2)], 17);
  expect(aside * 2).toBeLessThan(40);
  const high = fittingSize(box(200, 20), { x: 100, y: 10 }, [line(2, -0.2), line(2, 0.9)], 17);
  expect(high * (1.1 + 0.7)).toBeLessThan(20);
});

test("what has no room at all is small, and still there", () => {
  const size = fittingSize(box(5, 5), { x: 50, y: 50 }, [line(4)], 17);
  expect(size).toBeLessThanOrEqual(6);
  expect(size).toBeGreaterThan(5);
});
