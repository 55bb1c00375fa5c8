// The names of places, call bets and kinds of bets.
import { dictionary } from "../../../words/language";
import type { Kind } from "../layout/messages";
import { placeKind, placeNumbers } from "../layout/places";

const placeNamesWords = dictionary(
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
  return placeNamesWords().kinds[kind];
}

/** The name of a place or a call bet: `Pleno 17`, `1.ª dúzia (1–12)`, `Vizinhos do zero`. */
export function placeName(place: string): string {
  const words = placeNamesWords();
  if (place === "voisins" || place === "tiers" || place === "orphelins") return words[place];
  const [family = "", first = "", second = ""] = place.split("-");
  if (family === "neighbours") return words.neighbours(first, second);
  if (family === "final") return words.final(first);
  const kind = placeKind(place);
  if (!kind) return place;
  const numbers = placeNumbers(place);
  const range = `${numbers[0]}–${numbers.at(-1)}`;
  const no = Number(/-(\d)/.exec(place)?.[1] ?? 0);
  switch (kind) {
    case "KIND_DOZEN":
      return words.dozen(no, range);
    case "KIND_COLUMN":
      return words.column(no, no + 33);
    case "KIND_DOUBLE_DOZEN":
      return words.doubleDozen(no, range);
    case "KIND_DOUBLE_COLUMN":
      return words.doubleColumn(no, no + 33);
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
