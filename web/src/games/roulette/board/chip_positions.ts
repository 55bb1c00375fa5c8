// The size of chips on a board, and where stake and prize lie: in a box with words wholly within it.
import type { Measure, Point, Rect } from "./measure";

// From the middle of a stake to that of its prize, in radii.
const BESIDE = { x: 1.5, y: 0.5 };

export function chipRadius({ along, across }: Pick<Measure, "along" | "across">): number {
  return Math.max(8, Math.min(Math.min(along, across) * 0.3, 20));
}

/** The nearest position at which a chip lies wholly within a box. */
export function clampToBox(box: Rect, { x, y }: Point, radius: number): Point {
  return { x: between(box.x, x, box.x + box.width, radius), y: between(box.y, y, box.y + box.height, radius) };
}

/** Where a prize is paid: beside its stake, within the same box, or else within the board. */
export function prizePosition(stake: Point, box: Rect | undefined, boardWidth: number, radius: number): Point {
  const { x, y } = stake;
  const [away, up] = [radius * BESIDE.x, radius * BESIDE.y];
  const sides = [
    { x: x + away, y: y - up },
    { x: x - away, y: y - up },
    { x, y: y - away },
    { x, y: y + away },
  ];
  const room = box ?? { x: 0, y: 0, width: boardWidth, height: Number.POSITIVE_INFINITY };
  // The side where the prize has to be moved back the least.
  const places = sides.map((side) => ({
    x: clampToBox(room, side, radius).x,
    y: box ? clampToBox(box, side, radius).y : side.y,
  }));
  const apart = places.map((place) => Math.min(Math.hypot(place.x - x, place.y - y), away * 0.9));
  return places[apart.indexOf(Math.max(...apart))] ?? stake;
}

function between(from: number, value: number, until: number, radius: number): number {
  // In a box lower than a chip, the chip lies in the middle.
  if (until - from < 2 * radius) return (from + until) / 2;
  return Math.max(from + radius, Math.min(value, until - radius));
}
