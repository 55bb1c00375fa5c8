// The kind and numbers of every place of all three boards follow from its name.
import { expect, test } from "vitest";
import { placeKind, placeNumbers } from "../../../../src/games/roulette/layout/places";
import { board } from "../boards";

test("a place covers as many numbers as its kind says", () => {
  const sizes: Record<string, number> = {
    KIND_STRAIGHT: 1,
    KIND_SPLIT: 2,
    KIND_STREET: 3,
    KIND_CORNER: 4,
    KIND_SIX_LINE: 6,
    KIND_DOZEN: 12,
    KIND_COLUMN: 12,
    KIND_DOUBLE_DOZEN: 24,
    KIND_DOUBLE_COLUMN: 24,
  };
  for (const place of [...board(1), ...board(2)]) {
    const kind = placeKind(place);
    expect(kind, place).not.toBeNull();
    expect(placeNumbers(place).length, place).toBe(sizes[kind ?? ""] ?? 18);
  }
  expect(placeNumbers("double-column-2-3").slice(0, 4)).toEqual(["2", "3", "5", "6"]);
  expect(placeKind("voisins")).toBeNull();
});
