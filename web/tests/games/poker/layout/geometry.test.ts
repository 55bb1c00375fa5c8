// Two to ten clearly separated seats on any screen (806/2015:4.a).
import "../../../page";
import { describe, expect, test } from "vitest";
import { freeHeight, tableGeometry } from "../../../../src/games/poker/layout/geometry";

const ROOMS = {
  phone: [382, 500],
  small_phone: [312, 420],
  short_phone: [352, 316],
  tablet: [804, 880],
  wide: [1412, 650],
  side: [560, 310],
};
const COUNTS = [2, 3, 4, 5, 6, 7, 8, 9, 10];

describe.each(Object.entries(ROOMS))("on a %s", (_, [width = 0, height = 0]) => {
  test.each(COUNTS)("%i plates lie apart, and within the room", (seats) => {
    const { seats: spots, plate } = tableGeometry(width, height, seats, 1, 2);
    for (const [index, { plate: one }] of spots.entries()) {
      expect(one.x - plate.width / 2).toBeGreaterThanOrEqual(0);
      expect(one.x + plate.width / 2).toBeLessThanOrEqual(width);
      expect(one.y - plate.height / 2).toBeGreaterThanOrEqual(0);
      expect(one.y + plate.height / 2).toBeLessThanOrEqual(height);
      for (const { plate: other } of spots.slice(index + 1)) {
        const apart = Math.abs(one.x - other.x) >= plate.width || Math.abs(one.y - other.y) >= plate.height;
        expect(apart, `${JSON.stringify(one)} ${JSON.stringify(other)}`).toBe(true);
      }
    }
  });

  test.each(COUNTS)("with %i seats no plate covers a common card", (seats) => {
    const { seats: spots, plate, board, boardCard } = tableGeometry(width, height, seats, 1, 2);
    for (const { plate: at } of spots) {
      const apart =
        Math.abs(at.x - board.x) >= plate.width / 2 + boardCard * 2.68 ||
        Math.abs(at.y - board.y) >= plate.height / 2 + boardCard * 0.7;
      expect(apart, JSON.stringify(at)).toBe(true);
    }
  });

  test("the player's own seat is at the bottom, and the next one clockwise, to the left", () => {
    for (const own of [1, 4, 6]) {
      const { seats } = tableGeometry(width, height, 6, own, 2);
      const bottom = seats[own - 1]?.plate ?? { x: 0, y: 0 };
      expect(bottom.x).toBeCloseTo(width / 2);
      expect(Math.max(...seats.map(({ plate }) => plate.y))).toBe(bottom.y);
      expect(seats[own % 6]?.plate.x).toBeLessThan(width / 2);
    }
  });
});

test("something is put where nothing is, and nowhere if there is no room", () => {
  expect(freeHeight(100, 20, [])).toBe(100);
  expect(freeHeight(100, 20, [{ from: 80, to: 104 }])).toBe(114);
  expect(freeHeight(100, 20, [{ from: -500, to: 500 }])).toBeNull();
});
