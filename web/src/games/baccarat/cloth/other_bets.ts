// The other players' bets: for each chance, how many players and how much; and what lies on each place.
import type { SeatBets } from "../../../api/messages";
import { betsFromMessage, NO_BETS, type PlacedBets } from "../../../bets/bets";
import type { Cents } from "../../../words/money";

export interface OthersOnChance {
  players: number;
  cents: Cents;
}

export function otherBets(
  seats: readonly SeatBets[],
  ownSeat: number | undefined,
): ReadonlyMap<string, OthersOnChance> {
  const found = new Map<string, OthersOnChance>();
  for (const { seat, bets } of seats) {
    if (seat === ownSeat) continue;
    for (const [place, value] of betsFromMessage(bets)) {
      const before = found.get(place) ?? { players: 0, cents: 0 };
      found.set(place, { players: before.players + 1, cents: before.cents + value });
    }
  }
  return found;
}

/** The bets on a place of the table, which is the seat of the same number. */
export function betsOnPlace(seats: readonly SeatBets[], place: number): PlacedBets {
  const found = seats.find(({ seat }) => seat === place);
  return found ? betsFromMessage(found.bets) : NO_BETS;
}
