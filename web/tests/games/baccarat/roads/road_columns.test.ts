// The newest part of a road is shown.
import { expect, test } from "vitest";
import type { BigRoadMark, RoadCell } from "../../../../src/games/baccarat/layout/messages";
import { beadColumns, bigRoadColumns } from "../../../../src/games/baccarat/roads/road_columns";

const cells = Array.from({ length: 20 }, (_, n) => ({ round_id: String(n) }) as RoadCell);
const marks = Array.from({ length: 9 }, (_, column) => ({ column, row: 0 }) as BigRoadMark);

test("beads fill columns of six, from the oldest", () => {
  expect(beadColumns(cells, 10).map(({ column, row }) => [column, row])).toEqual(
    cells.map((_, n) => [Math.floor(n / 6), n % 6]),
  );
});

test("of too many columns the oldest are left out, whole", () => {
  const shown = beadColumns(cells, 2);
  expect(shown[0]).toMatchObject({ column: 0, row: 0, cell: { round_id: "12" } });
  expect(shown.at(-1)).toMatchObject({ column: 1, row: 1, cell: { round_id: "19" } });
  expect(bigRoadColumns(marks, 4).map(({ column }) => column)).toEqual([0, 1, 2, 3]);
  expect(bigRoadColumns(marks, 20)).toHaveLength(9);
  expect([beadColumns([], 4), bigRoadColumns([], 4)]).toEqual([[], []]);
});
