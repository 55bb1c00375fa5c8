// The kind and numbers of a place, derived from its name: for pictures that are drawn without asking the platform.
import type { Kind } from "./messages";
import { colourOf } from "./pockets";

const KINDS_BY_COUNT: Readonly<Record<number, Kind>> = {
  1: "KIND_STRAIGHT",
  2: "KIND_SPLIT",
  3: "KIND_STREET",
  4: "KIND_CORNER",
  6: "KIND_SIX_LINE",
};
const KINDS_BY_NAME: Readonly<Record<string, Kind>> = {
  dozen: "KIND_DOZEN",
  column: "KIND_COLUMN",
  "double-dozen": "KIND_DOUBLE_DOZEN",
  "double-column": "KIND_DOUBLE_COLUMN",
  even: "KIND_EVEN",
  odd: "KIND_ODD",
  low: "KIND_LOW",
  high: "KIND_HIGH",
  red: "KIND_RED",
  black: "KIND_BLACK",
};

/** The kind of a place; null for a name that is no place of the board, such as a call bet's. */
export function placeKind(place: string): Kind | null {
  if (/^\d/.test(place)) return KINDS_BY_COUNT[place.split("-").length] ?? null;
  return KINDS_BY_NAME[place.replace(/(-\d)+$/, "")] ?? null;
}

/** The numbers that a place covers, in ascending order. */
export function placeNumbers(place: string): readonly string[] {
  if (/^\d/.test(place)) return place.split("-");
  const no = Number(/-(\d)/.exec(place)?.[1] ?? 0);
  const width = place.startsWith("double-") ? 2 : 1;
  const covers = (n: number): boolean => {
    switch (placeKind(place)) {
      case "KIND_DOZEN":
      case "KIND_DOUBLE_DOZEN":
        return n > 12 * (no - 1) && n <= 12 * (no - 1 + width);
      case "KIND_COLUMN":
      case "KIND_DOUBLE_COLUMN":
        return (n - 1) % 3 >= no - 1 && (n - 1) % 3 < no - 1 + width;
      case "KIND_EVEN":
        return n % 2 === 0;
      case "KIND_ODD":
        return n % 2 === 1;
      case "KIND_LOW":
        return n <= 18;
      case "KIND_HIGH":
        return n > 18;
      case "KIND_RED":
        return colourOf(String(n)) === "COLOUR_RED";
      case "KIND_BLACK":
        return colourOf(String(n)) === "COLOUR_BLACK";
      default:
        return false;
    }
  };
  return Array.from({ length: 36 }, (_, at) => at + 1)
    .filter(covers)
    .map(String);
}
