// Which part of a road is shown: its newest columns, as many as there is room for.
import type { BigRoadMark, RoadCell } from "../layout/messages";

/** Players write six rounds below each other. */
export const ROWS = 6;

export interface PlacedCell {
  column: number;
  row: number;
  cell: RoadCell;
}

/** The newest columns of the bead road; the last one may not be full. */
export function beadColumns(cells: readonly RoadCell[], columns: number): readonly PlacedCell[] {
  const all = Math.ceil(cells.length / ROWS);
  const first = Math.max(0, all - columns);
  return cells
    .map((cell, index) => ({ cell, column: Math.floor(index / ROWS) - first, row: index % ROWS }))
    .filter(({ column }) => column >= 0);
}

/** The newest columns of the big road. */
export function bigRoadColumns(marks: readonly BigRoadMark[], columns: number): readonly BigRoadMark[] {
  const last = Math.max(-1, ...marks.map(({ column }) => column));
  const first = Math.max(0, last + 1 - columns);
  return marks.filter(({ column }) => column >= first).map((mark) => ({ ...mark, column: mark.column - first }));
}
