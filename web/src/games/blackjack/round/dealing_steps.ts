// Which cards come between two pictures of a round, in the order in which they are dealt (805/2015:14, 15, 17).
import type { Picture } from "./picture";

/** One card that is dealt, or the bank's second card being turned. */
export interface DealingStep {
  /** The place and number of the hand; null for the bank. */
  hand: { place: number; number: number } | null;
  /** The position of the card in its hand. */
  at: number;
  /** The card lies there already and is turned. */
  turns: boolean;
}

export function dealingSteps(before: Picture, after: Picture): readonly DealingStep[] {
  const bank = bankSteps(before.bank.cards, after.bank.cards);
  const hands = after.hands.flatMap((hand) => {
    const earlier = before.hands.find(({ place, number }) => place === hand.place && number === hand.number);
    const first = firstNewCard(earlier?.cards, hand.cards, before.hands.length > 0);
    return hand.cards
      .map((_, at) => ({ hand: { place: hand.place, number: hand.number }, at, turns: false }))
      .slice(first);
  });
  if (before.hands.length > 0) return [...hands, ...bank];
  // The first deal goes round twice: each player, then the bank (14.a, 14.b); what follows is dealt hand by hand.
  const round = (at: number) => [...hands, ...bank].filter((step) => step.at === at);
  const later = [...hands, ...bank].filter((step) => step.at > 1);
  return [...round(0), ...round(1), ...later];
}

/** A hand that a split opens begins with a card that was there; one that was split keeps its first alone (21). */
function firstNewCard(before: readonly string[] | undefined, after: readonly string[], dealt: boolean): number {
  if (!before) return dealt ? 1 : 0;
  let common = 0;
  while (common < before.length && before[common] === after[common]) common += 1;
  return common;
}

function bankSteps(before: readonly string[], after: readonly string[]): DealingStep[] {
  return after
    .map((name, at) => ({ hand: null, at, turns: before[at] === "" && name !== "" }))
    .filter(({ at, turns }) => turns || at >= before.length);
}

/** The picture `after` as it is when only so many of its steps have been taken. */
export function pictureDuring(after: Picture, steps: readonly DealingStep[], taken: number): Picture {
  const missing = steps.slice(taken);
  if (missing.length === 0) return after;
  const hidden = (hand: DealingStep["hand"]) =>
    missing.filter((step) => step.hand?.place === hand?.place && step.hand?.number === hand?.number);
  const hands = after.hands.map((hand) => {
    const cards = withoutSteps(hand.cards, hidden(hand));
    // What has become of a hand is not said before its cards say it.
    return cards.length === hand.cards.length ? hand : { ...hand, cards, state: "HAND_STATE_IN_PLAY" as const };
  });
  const bank = { ...after.bank, cards: withoutSteps(after.bank.cards, hidden(null)) };
  return { ...after, hands, bank, playing: null };
}

function withoutSteps(cards: readonly string[], missing: readonly DealingStep[]): string[] {
  const least = Math.min(cards.length, ...missing.filter(({ turns }) => !turns).map(({ at }) => at));
  const turning = new Set(missing.filter(({ turns }) => turns).map(({ at }) => at));
  return cards.slice(0, least).map((name, at) => (turning.has(at) ? "" : name));
}
