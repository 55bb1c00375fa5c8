// Places in words, those that players share among them: `5.º–6.º` (810/2015:51).

import { language } from "../../../../words/language";
import type { TournamentPlayer } from "../../messages/messages";

/** `3.º`, `3rd`; of players who tie `5.º–6.º`, `5th–6th`; empty while there is none. */
export function placeText(first: number, last = first): string {
  if (first <= 0) return "";
  return last > first ? `${ordinal(first)}–${ordinal(last)}` : ordinal(first);
}

/** The place of a player. */
export function placeOf({ rank, rank_to }: Pick<TournamentPlayer, "rank" | "rank_to">): string {
  return placeText(rank, rank_to);
}

function ordinal(place: number): string {
  return language.value === "pt" ? `${place}.º` : `${place}${englishEnding(place)}`;
}

function englishEnding(place: number): string {
  const tens = place % 100;
  if (tens >= 11 && tens <= 13) return "th";
  return ["th", "st", "nd", "rd"][place % 10] ?? "th";
}
