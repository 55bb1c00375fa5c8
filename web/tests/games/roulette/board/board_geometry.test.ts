// Every legal place has one spot on every board, and a pointer on it means that place.
import { describe, expect, test } from "vitest";
import { type BoardGeometry, boardGeometry, spotAt } from "../../../../src/games/roulette/board/board_geometry";
import { measureFor, type Shape } from "../../../../src/games/roulette/board/measure";
import { layoutOf, WHEELS } from "../layouts";

const ROOMS: readonly [name: string, shape: Shape, width: number, height: number][] = [
  ["a wide screen", "wide", 950, 380],
  ["a phone held upright", "tall", 366, 470],
  ["a phone lying on its side", "wide", 505, 280],
];

for (const wheel of WHEELS) {
  const layout = layoutOf(wheel);
  for (const [name, shape, width, height] of ROOMS) {
    const measure = measureFor(shape, width, height);
    const board = boardGeometry(layout, measure);

    describe(`${wheel} on ${name}`, () => {
      test("fits into its room", () => {
        expect(board.width).toBeLessThanOrEqual(width + 0.01);
        expect(board.height).toBeLessThanOrEqual(height + 0.01);
      });

      test("every place of the layout has exactly one spot, and no two lie upon each other", () => {
        expect(board.spots.map(({ place }) => place)).toEqual(layout.places.map(({ place }) => place));
        expect(new Set(board.spots.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`)).size).toBe(
          layout.places.length,
        );
        for (const { x, y } of board.spots) {
          expect(x).toBeGreaterThanOrEqual(0);
          expect(x).toBeLessThanOrEqual(board.width);
          expect(y).toBeGreaterThanOrEqual(0);
          expect(y).toBeLessThanOrEqual(board.height);
        }
      });

      test("a pointer where its chips lie means the place itself", () => {
        for (const spot of board.spots) expect(spotAt(board, spot.x, spot.y, measure)?.place).toBe(spot.place);
      });

      test("every place is large enough to hit", () => {
        const room = new Map<string, number>();
        for (let x = 0; x < board.width; x += 2) {
          for (let y = 0; y < board.height; y += 2) {
            const place = spotAt(board, x, y, measure)?.place;
            if (place) room.set(place, (room.get(place) ?? 0) + 4);
          }
        }
        const least = Math.min(...board.spots.map(({ place }) => room.get(place) ?? 0));
        expect(least).toBeGreaterThanOrEqual(LEAST_ROOM[name] ?? 0);
      });

      test("numbers do not overlap", () => {
        const cells = [...board.cells.values()];
        for (const one of cells) {
          for (const other of cells) {
            if (one === other) continue;
            const apart =
              one.x + one.width <= other.x + 0.01 ||
              other.x + other.width <= one.x + 0.01 ||
              one.y + one.height <= other.y + 0.01 ||
              other.y + other.height <= one.y + 0.01;
            expect(apart, `${one.place} and ${other.place}`).toBe(true);
          }
        }
      });

      test("chips among numbers lie in the middle of their numbers", () => {
        for (const { place, numbers, x, y } of board.spots) {
          const zero = numbers.includes("0") || numbers.includes("00");
          if (!/^\d+(-\d+)*$/.test(place) || zero || numbers.length % 3 === 0) continue;
          expect([x, y]).toEqual(centre(board, numbers).map((at) => expect.closeTo(at, 5)));
        }
      });

      test("streets and lines lie on the outer edge, beside the first number of each", () => {
        for (const { numbers, x, y, kind } of board.spots) {
          if (kind !== "KIND_STREET" && kind !== "KIND_SIX_LINE") continue;
          if (numbers.includes("0") || numbers.includes("00")) continue;
          const first = board.cells.get(numbers[0] ?? "");
          if (!first) throw new Error(`no cell for ${numbers[0]}`);
          if (shape === "wide") expect(y).toBeCloseTo(first.y + first.height);
          else expect(x).toBeCloseTo(first.x);
        }
      });

      test("a pointer far from the board means nothing", () => {
        expect(spotAt(board, -60, board.height / 2, measure)).toBeNull();
        expect(spotAt(board, board.width + 60, board.height / 2, measure)).toBeNull();
        expect(spotAt(board, board.width / 2, -60, measure)).toBeNull();
      });
    });
  }
}

// In square pixels; on a phone the middle of a fingertip has to hit, since the nearest place is meant.
const LEAST_ROOM: Readonly<Record<string, number>> = {
  "a wide screen": 400,
  "a phone held upright": 200,
  "a phone lying on its side": 150,
};

test("around the zeros each place touches its numbers", () => {
  const single = boardGeometry(layoutOf("WHEEL_FRENCH"), measureFor("wide", 950, 380));
  const double = boardGeometry(layoutOf("WHEEL_AMERICAN_38"), measureFor("wide", 950, 380));
  const edge = single.cells.get("1")?.x ?? 0;
  const row = (board: BoardGeometry, number: string) => {
    const cell = board.cells.get(number);
    return cell
      ? { top: cell.y, middle: cell.y + cell.height / 2, bottom: cell.y + cell.height }
      : { top: 0, middle: 0, bottom: 0 };
  };
  const at = (board: BoardGeometry, place: string) => {
    const spot = board.spotOf.get(place);
    return [spot?.x, spot?.y];
  };
  const near = (x: number, y: number) => [expect.closeTo(x, 5), expect.closeTo(y, 5)];
  for (const number of ["1", "2", "3"])
    expect(at(single, `0-${number}`)).toEqual(near(edge, row(single, number).middle));
  expect(at(single, "0-1-2")).toEqual(near(edge, row(single, "2").bottom));
  expect(at(single, "0-2-3")).toEqual(near(edge, row(single, "2").top));
  expect(at(single, "0-1-2-3")).toEqual(near(edge, row(single, "1").bottom));

  const two = row(double, "2");
  expect(at(double, "0-00-2")).toEqual(near(edge, two.middle));
  expect(at(double, "00-2")[1]).toBeLessThan(two.middle);
  expect(at(double, "0-2")[1]).toBeGreaterThan(two.middle);
  expect(at(double, "0-1-2")).toEqual(near(edge, two.bottom));
  expect(at(double, "00-2-3")).toEqual(near(edge, two.top));
  const [x = 0, y = 0] = at(double, "0-00");
  expect(x).toBeLessThan(edge);
  expect(y).toBeCloseTo(row(double, "0").top);
});

function centre(board: BoardGeometry, numbers: readonly string[]): [number, number] {
  const cells = numbers.map((number) => board.cells.get(number)).filter((cell) => cell !== undefined);
  const mean = (values: number[]) => values.reduce((all, one) => all + one, 0) / values.length;
  return [mean(cells.map((cell) => cell.x + cell.width / 2)), mean(cells.map((cell) => cell.y + cell.height / 2))];
}
