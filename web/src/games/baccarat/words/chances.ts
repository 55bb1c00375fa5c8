// The names of the chances.
import { dictionary } from "../../../words/language";

/** In the order in which they are listed. */
export const CHANCES = ["ponto", "banca", "tie", "ponto-pair", "banca-pair"] as const;

export type Chance = (typeof CHANCES)[number];

const chanceWords = dictionary(
  {
    ponto: "Ponto",
    banca: "Banca",
    tie: "Empate",
    "ponto-pair": "Par do ponto",
    "banca-pair": "Par da banca",
  } satisfies Record<Chance, string>,
  {
    ponto: "Ponto",
    banca: "Banca",
    tie: "Tie",
    "ponto-pair": "Ponto pair",
    "banca-pair": "Banca pair",
  },
);

export function isChance(place: string): place is Chance {
  return CHANCES.some((chance) => chance === place);
}

/** `Ponto`, `Par da banca`. */
export function chanceName(place: string): string {
  return isChance(place) ? chanceWords()[place] : place;
}
