// The measures of a board, and which way it lies.

export type Shape = "wide" | "tall";

/** Sizes in the units of the drawing. */
export interface Measure {
  shape: Shape;
  /** One number, along and across. */
  along: number;
  across: number;
  /** The boxes of the dozens and of the simple chances, across. */
  band: number;
  /** The zero and the columns' boxes, along. */
  zero: number;
  column: number;
}

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

/** The largest board of a shape that fits. */
export function measureFor(shape: Shape, width: number, height: number): Measure {
  const between = (least: number, value: number, most: number) => Math.max(least, Math.min(value, most));
  if (shape === "wide") {
    // Along: the zero, twelve streets, the columns' boxes; across: three numbers and two bands.
    const along = Math.min(width / 14, height / 4.4);
    const across = between(along, height / 4.4, along * 1.6);
    return { shape, along, across, band: across * 0.7, zero: along, column: along };
  }
  const across = Math.min(width / 4.5, (height / 14) * 4);
  const along = Math.min(height / 14, across * 0.8);
  return { shape, along, across, band: across * 0.75, zero: along, column: along };
}

// From this ratio of width to height on, an upright board would leave the sides empty.
const LYING = 1.2;

/** A wide board where there is width for it; else the shape with the larger numbers. */
export function fittingMeasure(width: number, height: number): Measure {
  const [wide, tall] = [measureFor("wide", width, height), measureFor("tall", width, height)];
  if (width > LYING * height) return wide;
  return wide.along * wide.across >= tall.along * tall.across ? wide : tall;
}
