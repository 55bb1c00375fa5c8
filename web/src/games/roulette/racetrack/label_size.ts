// The largest letters with which the text of a place stays within its outline.
import type { Point } from "./racetrack_geometry";

export interface Line {
  text: string;
  /** The width, in multiples of the letters' size. */
  width: number;
  /** How far below the text's centre its letters stand, in multiples of their size. */
  baseline: number;
}

// How far letters rise above their baseline and hang below it, and the room beside them: in multiples of their size.
const ABOVE = 0.72;
const BELOW = 0.22;
const BESIDE = 0.12;
// Smaller letters would not be read at all.
const LEAST = 6;
const STEP = 0.96;

export function fittingSize(outline: readonly Point[], at: Point, lines: readonly Line[], most: number): number {
  let size = most;
  while (size > LEAST && !lines.every((line) => corners(line, at, size).every((corner) => isWithin(outline, corner))))
    size *= STEP;
  return size;
}

function corners({ width, baseline }: Line, { x, y }: Point, size: number): Point[] {
  const half = (width / 2 + BESIDE) * size;
  const [top, bottom] = [y + (baseline - ABOVE) * size, y + (baseline + BELOW) * size];
  return [x - half, x + half].flatMap((side) => [
    { x: side, y: top },
    { x: side, y: bottom },
  ]);
}

/** Whether a ray to the right leaves the polygon once more than it enters it. */
function isWithin(polygon: readonly Point[], { x, y }: Point): boolean {
  return polygon.reduce((within, one, index) => {
    const next = polygon[(index + 1) % polygon.length] ?? one;
    const crosses = one.y > y !== next.y > y && x < one.x + ((next.x - one.x) * (y - one.y)) / (next.y - one.y);
    return crosses ? !within : within;
  }, false);
}
