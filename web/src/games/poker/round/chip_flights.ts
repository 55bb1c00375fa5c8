// Which chips move from one picture of a hand to the next: bets to the pot when a betting round is over, prizes to winners.
import { type Cents, cents } from "../../../words/money";
import type { View } from "../messages/messages";
import type { Prize } from "./picture";

/** Chips on their way; `pot` is the middle of the table. */
export interface ChipFlight {
  from: number | "pot";
  to: number | "pot";
  cents: Cents;
}

/** The bets that go to the pot when a betting round ends: what lay there, and what its last decision added. */
export function betsCollected(before: View, after: View): ChipFlight[] {
  if (before.street === after.street) return [];
  return before.seats.flatMap(({ seat, stack_cents, bet_cents }): ChipFlight[] => {
    const now = after.seats.find((each) => each.seat === seat);
    const added = cents(stack_cents) - cents(now?.stack_cents ?? stack_cents) - cents(now?.bet_cents);
    const moved = cents(bet_cents) + Math.max(0, added);
    return moved > 0 ? [{ from: seat, to: "pot", cents: moved }] : [];
  });
}

/** The bets that lie when a hand ends. */
export function lastBets(view: View): ChipFlight[] {
  return view.seats
    .filter(({ bet_cents }) => cents(bet_cents) > 0)
    .map(({ seat, bet_cents }) => ({ from: seat, to: "pot", cents: cents(bet_cents) }));
}

/** The prizes, one flight to each winner. */
export function prizesMoved(prizes: readonly Prize[]): ChipFlight[] {
  const bySeat = new Map<number, Cents>();
  for (const { seat, net_cents } of prizes) bySeat.set(seat, (bySeat.get(seat) ?? 0) + net_cents);
  return [...bySeat].map(([seat, net]) => ({ from: "pot", to: seat, cents: net }));
}
