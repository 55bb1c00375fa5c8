// What lies on the table: the hands, the bank's cards and the offers, from the platform's view of a round or its outcome.
import type { Any, RoundOnTable } from "../../../api/messages";
import type { BankHand, Hand, Outcome, PlaceOffer, View } from "../messages/messages";

export interface Picture {
  hands: readonly Hand[];
  bank: BankHand;
  offers: readonly PlaceOffer[];
  /** The hand that is to be played; null if none is. */
  playing: { place: number; number: number } | null;
}

const EMPTY_BANK: BankHand = { cards: [], score: 0, soft: false, blackjack: false, hole_shown: false };

export const NO_CARDS: Picture = { hands: [], bank: EMPTY_BANK, offers: [], playing: null };

export function pictureOfView(view: Any | undefined): Picture {
  const { hands = [], bank = EMPTY_BANK, offers = [], place = 0, hand = 0 } = (view ?? {}) as Partial<View>;
  return { hands, bank, offers, playing: place ? { place, number: hand } : null };
}

export function pictureOfOutcome(outcome: Any | undefined): Picture {
  const { hands = [], bank = EMPTY_BANK, offers = [] } = (outcome ?? {}) as Partial<Outcome>;
  return { hands, bank, offers, playing: null };
}

/** What lies on the table in a round, as far as its events say. */
export function pictureOfRound(round: RoundOnTable | undefined): Picture {
  if (round?.outcome) return pictureOfOutcome(round.outcome);
  return round?.view ? pictureOfView(round.view) : NO_CARDS;
}

export function sameHand(
  one: { place: number; number: number },
  other: { place: number; number: number } | null | undefined,
): boolean {
  return one.place === other?.place && one.number === other.number;
}

/** The places of one seat that take part. */
export function placesOf(picture: Picture, seat: number | undefined): ReadonlySet<number> {
  return new Set(picture.hands.filter((hand) => hand.seat === seat).map(({ place }) => place));
}
