// Which spot an arrow key leads to: the nearest one in its direction.

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
// How much more a step aside costs than one straight on.
const ASIDE = 2.4;

export function isArrowKey(key: string): key is Arrow {
  return key in WAYS;
}

/** The next spot in a direction, or the same one at the edge. */
export function nextSpot<Spot extends Point>(spots: readonly Spot[], from: Spot, arrow: Arrow): Spot {
  const [wayX, wayY] = WAYS[arrow];
  let next = from;
  let least = Number.POSITIVE_INFINITY;
  for (const spot of spots) {
    const [dx, dy] = [spot.x - from.x, spot.y - from.y];
    const ahead = dx * wayX + dy * wayY;
    const aside = Math.abs(dx * wayY) + Math.abs(dy * wayX);
    // Only within a cone: an arrow never leads mostly aside.
    if (ahead < 0.5 || aside > ahead * 3) continue;
    const cost = ahead + aside * ASIDE;
    if (cost < least) {
      least = cost;
      next = spot;
    }
  }
  return next;
}
