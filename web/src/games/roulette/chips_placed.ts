// How large chips are on a board, and where they lie in a box that is named by words: wholly within it, the prize too.
import type { Measure, Rect } from "./board_places";

export interface Point {
  x: number;
  y: number;
}

// From the middle of a stake to that of its prize, in radii.
const BESIDE = { x: 1.5, y: 0.5 };

export function chipRadius({ along, across }: Pick<Measure, "along" | "across">): number {
  return Math.max(8, Math.min(Math.min(along, across) * 0.3, 20));
}

/** As near to a point as a chip can come that leaves a box nowhere. */
export function within(box: Rect, { x, y }: Point, radius: number): Point {
  return { x: between(box.x, x, box.x + box.width, radius), y: between(box.y, y, box.y + box.height, radius) };
}

/** Where a bet is paid: beside its stake, where that is still its own box, or else still the board. */
export function prizeBeside(stake: Point, box: Rect | undefined, boardWidth: number, radius: number): Point {
  const { x, y } = stake;
  const [away, up] = [radius * BESIDE.x, radius * BESIDE.y];
  const sides = [
    { x: x + away, y: y - up },
    { x: x - away, y: y - up },
    { x, y: y - away },
    { x, y: y + away },
  ];
  const room = box ?? { x: 0, y: 0, width: boardWidth, height: Number.POSITIVE_INFINITY };
  // The first on which it need not be moved back upon the stake, or need be the least.
  const places = sides.map((side) => ({
    x: within(room, side, radius).x,
    y: box ? within(box, side, radius).y : side.y,
  }));
  const apart = places.map((place) => Math.min(Math.hypot(place.x - x, place.y - y), away * 0.9));
  return places[apart.indexOf(Math.max(...apart))] ?? stake;
}

function between(from: number, value: number, until: number, radius: number): number {
  // A box that is lower than a chip has it in its middle.
  if (until - from < 2 * radius) return (from + until) / 2;
  return Math.max(from + radius, Math.min(value, until - radius));
}
