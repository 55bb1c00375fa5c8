// The best combination of a player's cards and the common ones, so that players read at once what they hold. Who wins is the
// platform's to say.
import { RANKS, type Rank } from "../../../cards/card_names";
import type { Combination } from "../messages/messages";

export interface BestHand {
  combination: Combination;
  /** Its five cards, in the order that matters. */
  cards: readonly string[];
}

const COMBINATIONS = [
  "COMBINATION_UNSPECIFIED",
  "COMBINATION_HIGH_CARD",
  "COMBINATION_PAIR",
  "COMBINATION_TWO_PAIR",
  "COMBINATION_THREE_OF_A_KIND",
  "COMBINATION_STRAIGHT",
  "COMBINATION_FLUSH",
  "COMBINATION_FULL_HOUSE",
  "COMBINATION_FOUR_OF_A_KIND",
  "COMBINATION_STRAIGHT_FLUSH",
  "COMBINATION_ROYAL_FLUSH",
] as const satisfies readonly Combination[];

const ACE = 14;
const FIVE = 5;
// Omaha: exactly two personal cards and three common ones (811/2015:26).
const OMAHA_PERSONAL = 4;

/** Null before there are enough cards for a combination of five. */
export function bestHand(personal: readonly string[], board: readonly string[]): BestHand | null {
  if (personal.some((card) => !card)) return null;
  const hands =
    personal.length === OMAHA_PERSONAL
      ? choose(personal, 2).flatMap((own) => choose(board, 3).map((common) => [...own, ...common]))
      : choose([...personal, ...board], FIVE);
  let best: { value: readonly number[]; hand: BestHand } | null = null;
  for (const cards of hands) {
    const judged = judge(cards);
    if (!best || compare(judged.value, best.value) > 0) best = judged;
  }
  return best?.hand ?? null;
}

/** What five cards are, and numbers by which two hands compare. */
function judge(five: readonly string[]): { value: readonly number[]; hand: BestHand } {
  const groups = new Map<number, string[]>();
  for (const card of five) groups.set(rankOf(card), [...(groups.get(rankOf(card)) ?? []), card]);
  // The larger groups first, and among them the higher ranks.
  const ordered = [...groups].sort(([a, as], [b, bs]) => bs.length - as.length || b - a);
  let ranks = ordered.map(([rank]) => rank);
  let cards = ordered.flatMap(([, same]) => same);
  const sizes = ordered.map(([, same]) => same.length).join("");
  const flush = new Set(five.map((card) => card[1])).size === 1;
  const wheel = ranks.join() === "14,5,4,3,2";
  const straight = sizes === "11111" && (wheel || (ranks[0] ?? 0) - (ranks[4] ?? 0) === 4);
  if (straight && wheel) {
    ranks = [5, 4, 3, 2, 1];
    cards = [...cards.slice(1), ...cards.slice(0, 1)];
  }
  const strength = strengthOf(sizes, flush, straight, ranks[0] === ACE);
  const combination = COMBINATIONS[strength] ?? "COMBINATION_UNSPECIFIED";
  return { value: [strength, ...ranks], hand: { combination, cards } };
}

function strengthOf(sizes: string, flush: boolean, straight: boolean, toAce: boolean): number {
  if (straight && flush) return toAce ? 10 : 9;
  if (sizes === "41") return 8;
  if (sizes === "32") return 7;
  if (flush) return 6;
  if (straight) return 5;
  if (sizes === "311") return 4;
  if (sizes === "221") return 3;
  return sizes === "2111" ? 2 : 1;
}

function rankOf(card: string): number {
  const at = RANKS.indexOf(card[0] as Rank);
  return at === 0 ? ACE : at + 1;
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** Every choice of so many. */
function choose(from: readonly string[], count: number): string[][] {
  if (count === 0) return [[]];
  return from.flatMap((first, at) => choose(from.slice(at + 1), count - 1).map((rest) => [first, ...rest]));
}
