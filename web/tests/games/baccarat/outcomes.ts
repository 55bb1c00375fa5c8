// Outcomes for the tests of baccarat, by their cards.
import { scoreOf } from "../../../src/games/baccarat/deal/scores";
import type { Outcome } from "../../../src/games/baccarat/layout/messages";

/** `outcomeOfCards("4c 5d", "Ts 7h")`. */
export function outcomeOfCards(pontoCards: string, bancaCards: string): Outcome {
  const [ponto, banca] = [pontoCards.split(" "), bancaCards.split(" ")];
  const [ponto_score, banca_score] = [scoreOf(ponto), scoreOf(banca)];
  const pair = ([first, second]: string[]) => first?.[0] === second?.[0];
  return {
    ponto,
    banca,
    ponto_score,
    banca_score,
    winner: ponto_score > banca_score ? "WINNER_PONTO" : ponto_score < banca_score ? "WINNER_BANCA" : "WINNER_TIE",
    ponto_pair: pair(ponto),
    banca_pair: pair(banca),
  };
}
