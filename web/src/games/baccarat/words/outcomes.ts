// An outcome in words.
import type { Any } from "../../../api/messages";
import { cardsText } from "../../../cards/card_names";
import { dictionary } from "../../../words/language";
import type { Outcome, Winner } from "../layout/messages";

export type Side = "ponto" | "banca";
export const SIDES: readonly Side[] = ["ponto", "banca"];

const outcomesWords = dictionary(
  {
    winners: { ponto: "Ganha o ponto", banca: "Ganha a banca", tie: "Empate" },
    short: { ponto: "Ponto", banca: "Banca", tie: "Empate" },
    letters: { ponto: "P", banca: "B", tie: "E" },
    sides: { ponto: "Ponto", banca: "Banca" },
    scores: (winner: string, high: number, low: number) => `${winner}, ${high} a ${low}`,
    tieOf: (winner: string, score: number) => `${winner} a ${score}`,
    points: (score: number) => (score === 1 ? "1 ponto" : `${score} pontos`),
    hand: (side: string, cards: string, points: string) => `${side}: ${cards}; ${points}`,
    pontoPair: "par do ponto",
    bancaPair: "par da banca",
    natural: "natural",
  },
  {
    winners: { ponto: "Ponto wins", banca: "Banca wins", tie: "Tie" },
    short: { ponto: "Ponto", banca: "Banca", tie: "Tie" },
    letters: { ponto: "P", banca: "B", tie: "T" },
    sides: { ponto: "Ponto", banca: "Banca" },
    scores: (winner: string, high: number, low: number) => `${winner}, ${high} to ${low}`,
    tieOf: (winner: string, score: number) => `${winner} at ${score}`,
    points: (score: number) => (score === 1 ? "1 point" : `${score} points`),
    hand: (side: string, cards: string, points: string) => `${side}: ${cards}; ${points}`,
    pontoPair: "ponto pair",
    bancaPair: "banca pair",
    natural: "natural",
  },
);

/** The `feltro.baccarat.v1.Outcome` of an event or a record; null if there is none. */
export function outcomeOf(drawn: Any | null | undefined): Outcome | null {
  const outcome = drawn as Partial<Outcome> | null | undefined;
  return outcome?.ponto && outcome.banca ? (outcome as Outcome) : null;
}

export function winnerSide(winner: Winner): Side | "tie" {
  return winner === "WINNER_PONTO" ? "ponto" : winner === "WINNER_BANCA" ? "banca" : "tie";
}

/** What stands in a mark of a road: `P`, `B`, `E`. */
export function winnerLetter(winner: Winner): string {
  return outcomesWords().letters[winnerSide(winner)];
}

export function sideName(side: Side): string {
  return outcomesWords().sides[side];
}

export function pointsText(score: number): string {
  return outcomesWords().points(score);
}

/** `Ganha a banca, 7 a 3`; `Empate a 6`. */
export function winnerText(outcome: Outcome): string {
  const words = outcomesWords();
  const winner = words.winners[winnerSide(outcome.winner)];
  const [low, high] = [outcome.ponto_score, outcome.banca_score].sort((one, other) => one - other);
  if (outcome.winner === "WINNER_TIE") return words.tieOf(winner, high ?? 0);
  return words.scores(winner, high ?? 0, low ?? 0);
}

/** The pairs: `par do ponto`; empty if there is none. */
export function pairsText(pairs: { ponto_pair: boolean; banca_pair: boolean }): string {
  const { pontoPair, bancaPair } = outcomesWords();
  return [...(pairs.ponto_pair ? [pontoPair] : []), ...(pairs.banca_pair ? [bancaPair] : [])].join(", ");
}

/** `Ganha a banca, 7 a 3, par do ponto`. */
export function describeOutcome(outcome: Outcome): string {
  return [winnerText(outcome), pairsText(outcome)].filter(Boolean).join(", ");
}

/** `Ponto: ás de espadas e 7 de paus; 8 pontos`. */
export function handText(side: Side, cards: readonly string[], score: number): string {
  return outcomesWords().hand(sideName(side), cardsText(cards), pointsText(score));
}

/** For lists: `Banca 7–3`. */
export function outcomeLabel(drawn: Any): string {
  const outcome = outcomeOf(drawn);
  if (!outcome) return "";
  const { ponto_score, banca_score, winner } = outcome;
  const scores = [ponto_score, banca_score].sort((one, other) => other - one).join("–");
  return `${outcomesWords().short[winnerSide(winner)]} ${scores}`;
}
