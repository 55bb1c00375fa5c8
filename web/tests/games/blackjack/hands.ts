// Hands, pictures and outcomes for tests.
import type { BankHand, Hand, Outcome } from "../../../src/games/blackjack/messages/messages";
import type { Picture } from "../../../src/games/blackjack/round/picture";

export function hand(place: number, cards: string, more: Partial<Hand> = {}): Hand {
  return {
    place,
    number: 1,
    seat: place,
    cards: cards.split(" ").filter(Boolean),
    score: 0,
    soft: false,
    blackjack: false,
    staked_cents: "1000",
    state: "HAND_STATE_IN_PLAY",
    doubled: false,
    split: false,
    ...more,
  };
}

/** `7c ?` is a seven and a card that lies face down. */
export function bank(cards: string, more: Partial<BankHand> = {}): BankHand {
  const names = cards.split(" ").filter(Boolean);
  return {
    cards: names.map((name) => (name === "?" ? "" : name)),
    score: 0,
    soft: false,
    blackjack: false,
    hole_shown: !names.includes("?"),
    ...more,
  };
}

export function picture(bankCards: string, ...hands: Hand[]): Picture {
  return { hands, bank: bank(bankCards), offers: [], playing: null };
}

export function outcome(
  results: Readonly<Record<string, [staked: number, payout: number]>>,
  more: Partial<Outcome> = {},
) {
  return {
    hands: [],
    bank: bank("Ts 9d"),
    offers: [],
    results: Object.entries(results).map(([place, [staked, payout]]) => ({
      place,
      amount_cents: String(staked),
      payout_cents: String(payout),
      prize_cents: String(Math.max(0, payout - staked)),
    })),
    ...more,
  } as unknown as Outcome;
}
