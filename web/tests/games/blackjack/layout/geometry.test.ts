// Everything lies on the felt, and nothing upon anything else, from the smallest phone to a wide screen.
import { describe, expect, test } from "vitest";
import {
  handCardWidth,
  insuranceSpot,
  type Point,
  tableGeometry,
} from "../../../../src/games/blackjack/layout/geometry";

const SIZES: readonly (readonly [number, number])[] = [
  [1412, 600],
  [1000, 520],
  [560, 240],
  [382, 530],
  [312, 276],
];
const distance = (one: Point, other: Point) => Math.hypot(one.x - other.x, one.y - other.y);

/** Whether a point lies within the felt, whose lower part is half an ellipse of 62 % of its height (felt_table.css). */
function onFelt({ x, y }: Point, width: number, height: number): boolean {
  const below = Math.max(0, y - 0.38 * height) / (0.62 * height);
  return ((x - width / 2) / (width / 2)) ** 2 + below ** 2 <= 1;
}

describe.each(SIZES)("on a felt of %i × %i", (width, height) => {
  test.each([1, 2, 3, 4, 5, 6, 7])("%i places", (count) => {
    const geometry = tableGeometry(width, height, count);
    const { places, circle, band, card, bank, bankCard } = geometry;
    expect(places).toHaveLength(count);
    for (const place of places) {
      // Its lowest point, and those at its sides.
      for (const [dx, dy] of [
        [0, circle],
        [-circle, 0],
        [circle, 0],
      ] as const) {
        expect(onFelt({ x: place.x + dx, y: place.y + dy }, width, height)).toBe(true);
      }
    }
    for (const [index, place] of places.entries()) {
      for (const other of places.slice(index + 1))
        expect(distance(place, other)).toBeGreaterThanOrEqual(2 * circle - 1);
    }
    // A finger finds a circle (WCAG 2.5.8).
    expect(2 * circle).toBeGreaterThanOrEqual(24);
    // The first two cards of a place lie below the bank's.
    for (const place of places) expect(place.y - circle - 1.4 * card).toBeGreaterThan(bank.y + 0.7 * bankCard);
    expect(band.from.y).toBeGreaterThan(bank.y + 0.7 * bankCard);
    for (let place = 1; place <= count; place += 1) {
      const spot = insuranceSpot(geometry, place);
      expect(spot.x).toBeGreaterThan(band.from.x);
      expect(spot.x).toBeLessThan(band.to.x);
    }
  });
});

test("places lie from left to right, the outer ones nearer to the bank", () => {
  const { places } = tableGeometry(1412, 600, 7);
  expect(places.map(({ x }) => x)).toEqual([...places.map(({ x }) => x)].sort((a, b) => a - b));
  expect(places[0]?.y).toBeLessThan(places[3]?.y ?? 0);
});

test("several hands share the room of a place", () => {
  expect(handCardWidth(70, 190, [2])).toBe(70);
  const four = handCardWidth(70, 190, [2, 2, 3, 2]);
  expect(four).toBeLessThan(40);
  expect(four).toBeGreaterThanOrEqual(16);
});
