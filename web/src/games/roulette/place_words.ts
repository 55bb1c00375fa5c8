// The places of the board, the call bets and the kinds of bets, by their names in words.
import { dictionary } from "../../words/language";
import type { Place } from "./bets";
import { colourOf } from "./pockets";

export type Kind = Place["kind"];

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

const words = dictionary(
  {
    kinds: {
      KIND_UNSPECIFIED: "",
      KIND_STRAIGHT: "Pleno",
      KIND_SPLIT: "Cavalo",
      KIND_STREET: "Rua",
      KIND_CORNER: "Quadro",
      KIND_SIX_LINE: "Linha",
      KIND_DOZEN: "Dúzia",
      KIND_COLUMN: "Coluna",
      KIND_DOUBLE_DOZEN: "Cavalo de dúzia",
      KIND_DOUBLE_COLUMN: "Cavalo de coluna",
      KIND_EVEN: "Par",
      KIND_ODD: "Ímpar",
      KIND_LOW: "Menor",
      KIND_HIGH: "Maior",
      KIND_RED: "Encarnado",
      KIND_BLACK: "Preto",
    } satisfies Record<Kind, string>,
    dozen: (no: number, numbers: string) => `${no}.ª dúzia (${numbers})`,
    column: (no: number, last: number) => `${no}.ª coluna (do ${last})`,
    doubleDozen: (no: number, numbers: string) => `Cavalo de dúzia: ${no}.ª e ${no + 1}.ª (${numbers})`,
    doubleColumn: (no: number, last: number) => `Cavalo de coluna: ${no}.ª e ${no + 1}.ª (do ${last} e do ${last + 1})`,
    voisins: "Vizinhos do zero",
    tiers: "Série 5-8",
    orphelins: "Órfãos",
    neighbours: (number: string, neighbours: string) => `${number} e ${neighbours} vizinhos`,
    final: (digit: string) => `Finais em ${digit}`,
  },
  {
    kinds: {
      KIND_UNSPECIFIED: "",
      KIND_STRAIGHT: "Straight up",
      KIND_SPLIT: "Split",
      KIND_STREET: "Street",
      KIND_CORNER: "Corner",
      KIND_SIX_LINE: "Six-line",
      KIND_DOZEN: "Dozen",
      KIND_COLUMN: "Column",
      KIND_DOUBLE_DOZEN: "Double dozen",
      KIND_DOUBLE_COLUMN: "Double column",
      KIND_EVEN: "Even",
      KIND_ODD: "Odd",
      KIND_LOW: "Low",
      KIND_HIGH: "High",
      KIND_RED: "Red",
      KIND_BLACK: "Black",
    },
    dozen: (no: number, numbers: string) => `${ordinal(no)} dozen (${numbers})`,
    column: (no: number, last: number) => `${ordinal(no)} column (of ${last})`,
    doubleDozen: (no: number, numbers: string) => `Double dozen: ${ordinal(no)} and ${ordinal(no + 1)} (${numbers})`,
    doubleColumn: (no: number, last: number) =>
      `Double column: ${ordinal(no)} and ${ordinal(no + 1)} (of ${last} and ${last + 1})`,
    voisins: "Neighbours of zero",
    tiers: "Series 5-8",
    orphelins: "Orphans",
    neighbours: (number: string, neighbours: string) => `${number} and ${neighbours} neighbours`,
    final: (digit: string) => `Finals in ${digit}`,
  },
);

function ordinal(no: number): string {
  return `${no}${["th", "st", "nd", "rd"][no] ?? "th"}`;
}

/** `Pleno`, `Cavalo` … */
export function kindName(kind: Kind): string {
  return words().kinds[kind];
}

/** What kind of place a name is of; null if it is none of the board's own, as a call bet is not. */
export function kindOf(place: string): Kind | null {
  if (/^\d/.test(place)) return KINDS_BY_COUNT[place.split("-").length] ?? null;
  return KINDS_BY_NAME[place.replace(/(-\d)+$/, "")] ?? null;
}

/** The numbers that a place of the board covers, as they rise. */
export function numbersOf(place: string): readonly string[] {
  if (/^\d/.test(place)) return place.split("-");
  const no = Number(/-(\d)/.exec(place)?.[1] ?? 0);
  const width = place.startsWith("double-") ? 2 : 1;
  const covers = (n: number): boolean => {
    switch (kindOf(place)) {
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

/** A place of the board or a call bet: `Pleno 17`, `1.ª dúzia (1–12)`, `Vizinhos do zero`. */
export function placeName(place: string): string {
  const said = words();
  if (place === "voisins" || place === "tiers" || place === "orphelins") return said[place];
  const [family = "", first = "", second = ""] = place.split("-");
  if (family === "neighbours") return said.neighbours(first, second);
  if (family === "final") return said.final(first);
  const kind = kindOf(place);
  if (!kind) return place;
  const numbers = numbersOf(place);
  const range = `${numbers[0]}–${numbers.at(-1)}`;
  const no = Number(/-(\d)/.exec(place)?.[1] ?? 0);
  switch (kind) {
    case "KIND_DOZEN":
      return said.dozen(no, range);
    case "KIND_COLUMN":
      return said.column(no, no + 33);
    case "KIND_DOUBLE_DOZEN":
      return said.doubleDozen(no, range);
    case "KIND_DOUBLE_COLUMN":
      return said.doubleColumn(no, no + 33);
    case "KIND_SIX_LINE":
    case "KIND_LOW":
    case "KIND_HIGH":
      return kind === "KIND_SIX_LINE" ? `${kindName(kind)} ${range}` : `${kindName(kind)} (${range})`;
    case "KIND_STRAIGHT":
    case "KIND_SPLIT":
    case "KIND_STREET":
    case "KIND_CORNER":
      return `${kindName(kind)} ${place}`;
    default:
      return kindName(kind);
  }
}
