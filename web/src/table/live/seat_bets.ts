// What each seat has on the felt, event by event; the stakes of decisions are bets like any other.
import type { SeatBets, TableEvent } from "../../api/messages";
import { addBets, betsFromMessage, betsMessage, type PlacedBets, subtractBets } from "../../bets/bets";
import { cents } from "../../words/money";

type Placed = NonNullable<TableEvent["bets_placed"]>;
type Cancelled = NonNullable<TableEvent["bets_cancelled"]>;

export function applyBetsPlaced(seats: readonly SeatBets[], event: Placed): SeatBets[] {
  const before = seats.find(({ seat }) => seat === event.seat);
  const { seat, amount_cents, bets } = event;
  // Without a stake id the event holds all bets of the seat.
  if (!event.stake_id || !before?.bets || !bets) {
    return withSeat(seats, { seat, staked_cents: amount_cents, ...(bets && { bets }) });
  }
  const all = addBets(betsFromMessage(before.bets), betsFromMessage(bets));
  return withSeat(seats, { ...withBets(before, all), staked_cents: sum(before.staked_cents, amount_cents) });
}

export function applyBetsCancelled(seats: readonly SeatBets[], event: Cancelled): SeatBets[] {
  const before = seats.find(({ seat }) => seat === event.seat);
  if (!before) return [...seats];
  const left = subtractBets(betsFromMessage(before.bets), betsFromMessage(event.bets));
  if (left.size === 0) return seats.filter(({ seat }) => seat !== event.seat);
  const staked_cents = String(Math.max(0, cents(before.staked_cents) - cents(event.amount_cents)));
  return withSeat(seats, { ...withBets(before, left), staked_cents });
}

function withSeat(seats: readonly SeatBets[], changed: SeatBets): SeatBets[] {
  const known = seats.some(({ seat }) => seat === changed.seat);
  return known ? seats.map((each) => (each.seat === changed.seat ? changed : each)) : [...seats, changed];
}

/** The seat with other bets in its game's own message. */
function withBets(seat: SeatBets, bets: PlacedBets): SeatBets {
  return { ...seat, bets: { ...seat.bets, bets: betsMessage(bets) } as NonNullable<SeatBets["bets"]> };
}

function sum(one: string, other: string): string {
  return String(cents(one) + cents(other));
}
