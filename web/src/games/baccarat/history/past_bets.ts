// A player's bets in a past round, chance by chance, with what each paid.
import type { Any, PlayerRound } from "../../../api/messages";
import { type Cents, cents } from "../../../words/money";
import type { BetResults, Bets } from "../layout/messages";

export interface PastBet {
  place: string;
  staked: Cents;
  /** What came back, the stake included; null while the round is not settled. */
  payout: Cents | null;
  prize: Cents | null;
  /** What was deducted from the prize. */
  commission: Cents | null;
}

/** In the order of placing; several placements on a chance are one bet. */
export function pastBets(round: PlayerRound): PastBet[] {
  const byPlace = new Map<string, PastBet>();
  const sum = (one: Cents | null, other: Cents | null) => (one === null || other === null ? null : one + other);
  const add = (bet: PastBet) => {
    const before = byPlace.get(bet.place);
    byPlace.set(bet.place, {
      place: bet.place,
      staked: (before?.staked ?? 0) + bet.staked,
      payout: before ? sum(before.payout, bet.payout) : bet.payout,
      prize: before ? sum(before.prize, bet.prize) : bet.prize,
      commission: before ? sum(before.commission, bet.commission) : bet.commission,
    });
  };
  for (const { bets, results } of round.stakes) {
    if (results) {
      for (const each of (results as Any as BetResults).results) {
        add({
          place: each.place,
          staked: cents(each.amount_cents),
          payout: cents(each.payout_cents),
          prize: cents(each.prize_cents),
          commission: cents(each.commission_cents),
        });
      }
    } else if (bets) {
      for (const { place, amount_cents } of (bets as Any as Bets).bets) {
        add({ place, staked: cents(amount_cents), payout: null, prize: null, commission: null });
      }
    }
  }
  return [...byPlace.values()];
}
