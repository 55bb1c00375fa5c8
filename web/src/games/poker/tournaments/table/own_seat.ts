// Where the player sits now: a player who is moved goes on at another table (810/2015:48).
import type { OwnTournament } from "../../messages/messages";

export interface NewSeat {
  table_id: string;
  seat: number;
}

/** The seat at another table than the one that is shown; null for a player who sits at this one, or nowhere. */
export function movedTo(own: OwnTournament | null, shownTableId: string): NewSeat | null {
  const { standing, table_id = "", seat = 0, rank_final } = own?.entry ?? {};
  const playing = standing === "ENTRY_STANDING_PLAYING" || standing === "ENTRY_STANDING_ASKED_TO_REBUY";
  if (!playing || rank_final || !table_id || table_id === shownTableId) return null;
  return { table_id, seat };
}
