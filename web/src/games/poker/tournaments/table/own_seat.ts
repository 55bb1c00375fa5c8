// Where the player sits now: a player who is moved goes on at another table (810/2015:48).
import type { OwnTournament } from "../../messages/messages";

export interface NewSeat {
  table_id: string;
  seat: number;
}

/**
 * How the player stands as far as it may be shown: while a hand of theirs is on the screen, nothing says how it has ended
 * (903-B/2015:6.2.3). What can be bought is offered as it is now, unless that would say it.
 */
export function shownOwn(now: OwnTournament | null, kept: OwnTournament | null, inHand: boolean): OwnTournament | null {
  if (!inHand || !now?.entry || !kept?.entry) return now;
  return now.entry.standing === kept.entry.standing ? { ...now, entry: kept.entry } : kept;
}

/** The seat at another table than the one that is shown; null for a player who sits at this one, or nowhere. */
export function movedTo(own: OwnTournament | null, shownTableId: string): NewSeat | null {
  const { standing, table_id = "", seat = 0, rank_final } = own?.entry ?? {};
  const playing = standing === "ENTRY_STANDING_PLAYING" || standing === "ENTRY_STANDING_ASKED_TO_REBUY";
  if (!playing || rank_final || !table_id || table_id === shownTableId) return null;
  return { table_id, seat };
}
