// What hands and places were paid: stakes by their names (`3`, `3.1.double`, `3.2`, `3.insurance`), put together.
import { type Cents, cents } from "../../../words/money";
import type { BetResult, Hand, Outcome } from "../messages/messages";

/** What became of a hand, as a player would say it. */
export type HandVerdict =
  | "blackjack"
  | "even_money"
  | "won"
  | "special"
  | "tie"
  | "lost"
  | "bust"
  | "given_up"
  | "stands"
  | "plays";

export interface HandResult {
  staked_cents: Cents;
  payout_cents: Cents;
  verdict: HandVerdict;
}

/** The parts of a stake's name. */
export interface StakeName {
  place: number;
  /** The hand; 1 for the bet itself. 0 for an insurance. */
  hand: number;
  kind: "bet" | "split" | "double" | "insurance";
}

export function parseStake(name: string): StakeName | null {
  const [, place, hand, kind] = /^([1-7])(?:\.([0-9]{1,3}))?(?:\.(double|insurance))?$/.exec(name) ?? [];
  if (!place) return null;
  if (kind === "insurance") return { place: Number(place), hand: 0, kind };
  const number = Number(hand ?? 1);
  return { place: Number(place), hand: number, kind: kind === "double" ? kind : number > 1 ? "split" : "bet" };
}

/** The results of one hand: of its bet, and of its double. */
export function handResult(outcome: Outcome, hand: Hand): HandResult {
  const own = outcome.results.filter(({ place }) => {
    const stake = parseStake(place);
    return stake?.place === hand.place && stake.hand === hand.number;
  });
  const { staked_cents, payout_cents } = sumOf(own);
  return { staked_cents, payout_cents, verdict: verdictOf(outcome, hand, staked_cents, payout_cents) };
}

/** The insurance of a place; null if it has none. */
export function insuranceResult(outcome: Outcome, place: number): { staked_cents: Cents; payout_cents: Cents } | null {
  const own = outcome.results.filter((result) => result.place === `${place}.insurance`);
  return own.length ? sumOf(own) : null;
}

/** All stakes of some places together. */
export function placesResult(outcome: Outcome, places: ReadonlySet<number>) {
  return sumOf(outcome.results.filter(({ place }) => places.has(parseStake(place)?.place ?? 0)));
}

function sumOf(results: readonly BetResult[]): { staked_cents: Cents; payout_cents: Cents } {
  let [staked_cents, payout_cents] = [0, 0];
  for (const result of results) {
    staked_cents += cents(result.amount_cents);
    payout_cents += cents(result.payout_cents);
  }
  return { staked_cents, payout_cents };
}

function verdictOf(outcome: Outcome, hand: Hand, staked: Cents, payout: Cents): HandVerdict {
  const early = earlyVerdict(
    hand,
    outcome.offers.some(({ place, even_money, taken }) => place === hand.place && even_money && taken),
  );
  if (early !== "stands" && early !== "plays") return early;
  // A special prize comes on top of whatever the comparison gives (25.i).
  if (payout >= 3 * staked && staked > 0 && !hand.blackjack) return "special";
  if (payout > staked) return hand.blackjack ? "blackjack" : "won";
  return payout === staked ? "tie" : "lost";
}

/** What is known of a hand before the bank has played. */
export function earlyVerdict(hand: Hand, evenMoney: boolean): HandVerdict {
  if (hand.state === "HAND_STATE_BUST") return "bust";
  if (hand.state === "HAND_STATE_GIVEN_UP") return "given_up";
  if (hand.state === "HAND_STATE_PAID") return evenMoney ? "even_money" : "blackjack";
  return hand.state === "HAND_STATE_STOOD" ? "stands" : "plays";
}

/** How a round went for a player, all stakes together. A payout below the stake is no win. */
export type Verdict = "unstaked" | "lost" | "less" | "even" | "won";

export function verdict(staked: Cents, payout: Cents): Verdict {
  if (staked === 0) return "unstaked";
  if (payout === 0) return "lost";
  if (payout < staked) return "less";
  return payout === staked ? "even" : "won";
}
