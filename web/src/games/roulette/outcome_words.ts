// An outcome and a table's limits in words.
import type { Any, TableConfiguration } from "../../api/messages";
import type { components } from "../../api/schema";
import { dictionary } from "../../words/language";
import { amount, type Cents, cents, short } from "../../words/money";
import type { Kind } from "./place_words";
import { type Colour, colourOf } from "./pockets";

export type Outcome = components["schemas"]["roulette.v1.Outcome"];

/** What a table's specific rules say of roulette. */
export type SpecificRules = Partial<components["schemas"]["roulette.v1.SpecificRules.Own"]>;

const words = dictionary(
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
    euros: (whole: string) => `${whole}\u00a0€`,
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
    euros: (whole: string) => `€${whole}`,
  },
);

/** The number of a `feltro.roulette.v1.Outcome`; empty if there is none. */
export function numberOf(outcome: Any | null | undefined): string {
  return (outcome as Partial<Outcome> | null | undefined)?.number ?? "";
}

export function colourWord(colour: Colour): string {
  const { red, black, green } = words();
  return colour === "COLOUR_RED" ? red : colour === "COLOUR_BLACK" ? black : green;
}

/** The class that a number is coloured by. */
export function colourClass(number: string): "is-red" | "is-black" | "is-green" {
  const colour = colourOf(number);
  return colour === "COLOUR_RED" ? "is-red" : colour === "COLOUR_BLACK" ? "is-black" : "is-green";
}

/** What a number is: `preto, ímpar, menor`; a zero is nothing but `Zero`. */
export function qualities(number: string): string {
  const { even, odd, low, high, zero, doubleZero } = words();
  if (number === "0") return zero;
  if (number === "00") return doubleZero;
  const n = Number(number);
  return [colourWord(colourOf(number)), n % 2 ? odd : even, n <= 18 ? low : high].join(", ");
}

/** `17, preto, ímpar, menor`; `Zero`. */
export function describe(outcome: Any | null | undefined): string {
  const number = numberOf(outcome);
  if (!number) return "";
  return colourOf(number) === "COLOUR_GREEN" ? qualities(number) : `${number}, ${qualities(number)}`;
}

/** For lists: `17 preto`. */
export function outcome(drawn: Any): string {
  const number = numberOf(drawn);
  return number ? `${number} ${colourWord(colourOf(number))}` : "";
}

// The most that the regulation allows on a place of each kind, as a multiple of the minimum (804/2015:11, 807/2015:12).
const CEILINGS: Readonly<Record<Exclude<Kind, "KIND_UNSPECIFIED">, number>> = {
  KIND_STRAIGHT: 30,
  KIND_SPLIT: 60,
  KIND_STREET: 90,
  KIND_CORNER: 120,
  KIND_SIX_LINE: 180,
  KIND_DOZEN: 360,
  KIND_COLUMN: 360,
  KIND_DOUBLE_DOZEN: 720,
  KIND_DOUBLE_COLUMN: 720,
  KIND_EVEN: 540,
  KIND_ODD: 540,
  KIND_LOW: 540,
  KIND_HIGH: 540,
  KIND_RED: 540,
  KIND_BLACK: 540,
};

/** The least that a bet may be, and the most that any place of the table takes: `1 € – 720 €`. */
export function limits(configuration: TableConfiguration): string {
  const rules = (configuration.rules ?? {}) as SpecificRules;
  const lowered = new Map<string, number>(rules.maxima?.map(({ kind, times_minimum }) => [kind, times_minimum]));
  const minimum = cents(rules.minimum_cents);
  const times = Object.entries(CEILINGS)
    .filter(([kind]) => !(rules.without_doubles && kind.startsWith("KIND_DOUBLE")))
    .map(([kind, ceiling]) => Math.min(ceiling, lowered.get(kind) ?? ceiling));
  const total = cents(rules.total_maximum_cents) || Number.POSITIVE_INFINITY;
  const maximum = Math.min(minimum * Math.max(...times), total);
  const { mode } = configuration;
  if (mode === "MODE_DEMO") return `${short(minimum)} – ${amount(maximum, mode)}`;
  const told = (value: Cents) => (value % 100 ? amount(value, mode) : words().euros(short(value)));
  return `${told(minimum)} – ${told(maximum)}`;
}
