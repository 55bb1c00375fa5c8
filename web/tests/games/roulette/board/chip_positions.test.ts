// Stake and prize in a box with words lie wholly within that box, on every screen.
import { describe, expect, test } from "vitest";
import { boardGeometry, isBox } from "../../../../src/games/roulette/board/board_geometry";
import { chipRadius, prizePosition } from "../../../../src/games/roulette/board/chip_positions";
import { fittingMeasure, type Measure, type Point, type Rect } from "../../../../src/games/roulette/board/measure";
import { layoutOf, WHEELS } from "../layouts";

// The room for a board on a wide screen, a tablet, and phones either way up.
const ROOMS: readonly (readonly [width: number, height: number])[] = [
  [1500, 560],
  [950, 380],
  [760, 620],
  [366, 470],
  [336, 330],
  [505, 280],
  [370, 262],
  [290, 220],
];

for (const wheel of WHEELS) {
  describe(wheel, () => {
    for (const [width, height] of ROOMS) {
      test(`in ${width} × ${height}`, () => {
        const measure: Measure = fittingMeasure(width, height);
        const board = boardGeometry(layoutOf(wheel), measure);
        const radius = chipRadius(measure);
        for (const spot of board.spots) {
          const box = board.cells.get(spot.place);
          if (!box || !isBox(spot.place)) continue;
          const paid = prizePosition(spot, box, board.width, radius);
          expect(beyond(box, spot, radius), `the stake on ${spot.place}`).toBeLessThan(0.01);
          expect(beyond(box, paid, radius), `the prize of ${spot.place}`).toBeLessThan(0.01);
          // Both stay readable beside each other.
          expect(Math.hypot(paid.x - spot.x, paid.y - spot.y)).toBeGreaterThanOrEqual(radius);
        }
      });
    }
  });
}

test("elsewhere a prize lies to the right of its stake, or to the left at the end of the board", () => {
  expect(prizePosition({ x: 100, y: 50 }, undefined, 200, 10)).toEqual({ x: 115, y: 45 });
  expect(prizePosition({ x: 190, y: 50 }, undefined, 200, 10)).toEqual({ x: 175, y: 45 });
});

function beyond({ x, y, width, height }: Rect, chip: Point, radius: number): number {
  return Math.max(x - chip.x, chip.x - x - width, y - chip.y, chip.y - y - height) + radius;
}
