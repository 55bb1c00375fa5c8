// Arrow keys reach every spot, in the expected direction.
import { expect, test } from "vitest";
import { type Arrow, nextSpot } from "../../../../src/games/roulette/board/arrow_keys";
import { boardGeometry } from "../../../../src/games/roulette/board/board_geometry";
import { measureFor } from "../../../../src/games/roulette/board/measure";
import { layoutOf, WHEELS } from "../layouts";

const ARROWS: readonly Arrow[] = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

for (const wheel of WHEELS) {
  for (const [shape, width, height] of [
    ["wide", 950, 380],
    ["tall", 366, 470],
  ] as const) {
    const board = boardGeometry(layoutOf(wheel), measureFor(shape, width, height));

    test(`${wheel}, ${shape}: every spot is reached from the first one`, () => {
      const [first] = board.spots;
      if (!first) throw new Error("no spots");
      const reached = new Set([first.place]);
      const open = [first];
      for (let spot = open.pop(); spot; spot = open.pop()) {
        for (const arrow of ARROWS) {
          const next = nextSpot(board.spots, spot, arrow);
          if (!reached.has(next.place)) open.push(next);
          reached.add(next.place);
        }
      }
      expect(board.spots.map(({ place }) => place).filter((place) => !reached.has(place))).toEqual([]);
    });
  }
}

test("on a wide board right leads over the split to the next number, down to the street, then to the dozens", () => {
  const board = boardGeometry(layoutOf("WHEEL_FRENCH"), measureFor("wide", 950, 380));
  const go = (from: string, ...arrows: Arrow[]) => {
    let spot = board.spotOf.get(from);
    for (const arrow of arrows) spot = spot && nextSpot(board.spots, spot, arrow);
    return spot?.place;
  };
  expect(go("17", "ArrowRight")).toBe("17-20");
  expect(go("17", "ArrowRight", "ArrowRight")).toBe("20");
  expect(go("17", "ArrowRight", "ArrowLeft")).toBe("17");
  expect(go("17", "ArrowUp")).toBe("17-18");
  expect(go("17-20", "ArrowUp")).toBe("17-18-20-21");
  expect(go("16", "ArrowDown")).toBe("16-17-18");
  expect(go("1", "ArrowLeft")).toBe("0-1");
  expect(go("36", "ArrowUp")).toBe("36");
});
