// The pockets of the three wheels, clockwise from 0, for pictures that are drawn without asking the platform.
// A table in play uses GetLayout; a test compares these with the platform's own.
import type { Colour, Pocket, WheelName } from "./messages";

const RED = new Set("1 3 5 7 9 12 14 16 18 19 21 23 25 27 30 32 34 36".split(" "));

/** The colour of a number, on every wheel. */
export function colourOf(number: string): Colour {
  if (number === "0" || number === "00") return "COLOUR_GREEN";
  return RED.has(number) ? "COLOUR_RED" : "COLOUR_BLACK";
}

function painted(numbers: string): readonly Pocket[] {
  return numbers.split(" ").map((number) => ({ number, colour: colourOf(number) }));
}

const AMERICAN_37 = painted(
  "0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2",
);
const AMERICAN_38 = painted(
  "0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 00 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2",
);
const FRENCH = painted(
  "0 32 15 19 4 21 2 25 17 34 6 27 13 36 11 30 8 23 10 5 24 16 33 1 20 14 31 9 22 18 29 7 28 12 35 3 26",
);

/** The pockets of a wheel. */
export function pocketsOf(wheel: WheelName | undefined): readonly Pocket[] {
  if (wheel === "WHEEL_AMERICAN_37") return AMERICAN_37;
  return wheel === "WHEEL_AMERICAN_38" ? AMERICAN_38 : FRENCH;
}
