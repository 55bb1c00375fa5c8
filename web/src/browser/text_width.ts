// How wide a text is in the letters that this device draws: typefaces differ by more than a third.

export interface TextStyle {
  /** A property of the page's styles that names the typefaces, such as `--serif`. */
  typeface: string;
  weight: number;
  /** Between two letters, in multiples of the letters' size. */
  spacing?: number;
}

// Large enough that rounding to pixels does not count.
const MEASURED_PX = 200;
let context: CanvasRenderingContext2D | null = null;

/** The width in multiples of the letters' size. */
export function textWidth(text: string, { typeface, weight, spacing = 0 }: TextStyle): number {
  context ??= document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(document.documentElement).getPropertyValue(typeface) || "serif";
  // Without a canvas every letter is taken to be as wide as high, which is wide enough for any text.
  if (!context) return text.length;
  context.font = `${weight} ${MEASURED_PX}px ${family}`;
  return context.measureText(text).width / MEASURED_PX + text.length * spacing;
}
