// The score of cards as players count them, for hands of which not all cards lie yet; complete ones have the platform's own.
import { parseCard } from "../../../cards/card_names";

const BLACKJACK = 21;
const TENS = new Set(["T", "J", "Q", "K"]);

export interface Score {
  score: number;
  /** An ace counts 11. */
  soft: boolean;
}

/** The best total not above 21, with one ace as 11 where it fits; cards that lie face down count nothing. */
export function scoreOf(names: readonly string[]): Score {
  let low = 0;
  let aces = 0;
  for (const name of names) {
    const card = parseCard(name);
    if (!card) continue;
    if (card.rank === "A") aces += 1;
    low += card.rank === "A" ? 1 : TENS.has(card.rank) ? 10 : Number(card.rank);
  }
  const soft = aces > 0 && low + 10 <= BLACKJACK;
  return { score: soft ? low + 10 : low, soft };
}

/** The total with every ace as 1, as it is frozen when a soft hand is doubled (805/2015:8.a.ii). */
export function lowTotal(names: readonly string[]): number {
  const { score, soft } = scoreOf(names);
  return soft ? score - 10 : score;
}
