// Where an arrow key leads from a spot: to the nearest one that way.

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

interface Point {
  place: string;
  x: number;
  y: number;
}

const WAYS: Readonly<Record<Arrow, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
// A spot aside is worth a step straight on, but not a long one.
const ASIDE = 2.4;

export function isArrow(key: string): key is Arrow {
  return key in WAYS;
}

/** The next spot that way, or the same one at the border. */
export function stepped<Spot extends Point>(spots: readonly Spot[], from: Spot, arrow: Arrow): Spot {
  const [wayX, wayY] = WAYS[arrow];
  let next = from;
  let least = Number.POSITIVE_INFINITY;
  for (const spot of spots) {
    const [dx, dy] = [spot.x - from.x, spot.y - from.y];
    const ahead = dx * wayX + dy * wayY;
    const aside = Math.abs(dx * wayY) + Math.abs(dy * wayX);
    // Within a cone only: an arrow never leads mostly aside.
    if (ahead < 0.5 || aside > ahead * 3) continue;
    const cost = ahead + aside * ASIDE;
    if (cost < least) {
      least = cost;
      next = spot;
    }
  }
  return next;
}
