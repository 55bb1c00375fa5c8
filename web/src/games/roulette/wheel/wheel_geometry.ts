// Lengths and shapes of the wheel's picture, on a square from -500 to 500 around the wheel's middle.

export const OUTER = 496;
/** The rotor, from outside in: the ring of numbers, the pockets, the cone. */
export const RING = { outer: 344, inner: 276 };
export const POCKETS = { outer: 276, inner: 204 };

/** A point; its angle is clockwise from the top. */
export function point(radius: number, angle: number): string {
  return `${(radius * Math.sin(angle)).toFixed(2)} ${(-radius * Math.cos(angle)).toFixed(2)}`;
}

/** The part of a ring between two angles. */
export function sector(outer: number, inner: number, from: number, to: number): string {
  const large = to - from > Math.PI ? 1 : 0;
  return [
    `M${point(outer, from)}`,
    `A${outer} ${outer} 0 ${large} 1 ${point(outer, to)}`,
    `L${point(inner, to)}`,
    `A${inner} ${inner} 0 ${large} 0 ${point(inner, from)}Z`,
  ].join("");
}

export function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}
