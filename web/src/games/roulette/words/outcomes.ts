// An outcome in words.
import type { Any } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import type { Colour, Outcome } from "../layout/messages";
import { colourOf } from "../layout/pockets";

const outcomesWords = dictionary(
  {
    red: "encarnado",
    black: "preto",
    green: "verde",
    even: "par",
    odd: "ímpar",
    low: "menor",
    high: "maior",
    zero: "Zero",
    doubleZero: "Duplo zero",
  },
  {
    red: "red",
    black: "black",
    green: "green",
    even: "even",
    odd: "odd",
    low: "low",
    high: "high",
    zero: "Zero",
    doubleZero: "Double zero",
  },
);

/** The number of a `feltro.roulette.v1.Outcome`; empty if there is none. */
export function drawnNumber(outcome: Any | null | undefined): string {
  return (outcome as Partial<Outcome> | null | undefined)?.number ?? "";
}

export function colourName(colour: Colour): string {
  const { red, black, green } = outcomesWords();
  return colour === "COLOUR_RED" ? red : colour === "COLOUR_BLACK" ? black : green;
}

/** The CSS class of a number's colour. */
export function colourClass(number: string): "is-red" | "is-black" | "is-green" {
  const colour = colourOf(number);
  return colour === "COLOUR_RED" ? "is-red" : colour === "COLOUR_BLACK" ? "is-black" : "is-green";
}

/** The colour and the simple chances of a number: `preto, ímpar, menor`; for a zero `Zero`. */
export function numberQualities(number: string): string {
  const { even, odd, low, high, zero, doubleZero } = outcomesWords();
  if (number === "0") return zero;
  if (number === "00") return doubleZero;
  const n = Number(number);
  return [colourName(colourOf(number)), n % 2 ? odd : even, n <= 18 ? low : high].join(", ");
}

/** `17, preto, ímpar, menor`; `Zero`. */
export function describeOutcome(outcome: Any | null | undefined): string {
  const number = drawnNumber(outcome);
  if (!number) return "";
  return colourOf(number) === "COLOUR_GREEN" ? numberQualities(number) : `${number}, ${numberQualities(number)}`;
}

/** For lists: `17 preto`. */
export function outcomeLabel(drawn: Any): string {
  const number = drawnNumber(drawn);
  return number ? `${number} ${colourName(colourOf(number))}` : "";
}
