// The score of cards that lie open (812/2015:7, 8).

/** An ace counts 1, ten and figures 0, other cards their number; of a sum beyond 10 or 20 only the excess counts. */
export function scoreOf(cards: readonly string[]): number {
  return cards.reduce((sum, card) => sum + countOf(card), 0) % 10;
}

function countOf(card: string): number {
  const rank = card[0] ?? "";
  return rank === "A" ? 1 : Number(rank) || 0;
}
