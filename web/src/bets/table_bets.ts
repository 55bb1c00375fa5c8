// What a table's snapshot and the player's seat say about betting, as the player's slip takes it.
import type { OwnSeat, TableSnapshot } from "../api/messages";
import type { IdentifiedBets } from "./bet_slip";
import { betsFromMessage } from "./bets";

/** The round that takes bets, if one does. */
export function roundTakingBets(table: TableSnapshot): string | null {
  return table.phase === "PHASE_BETTING" ? (table.round?.round_id ?? null) : null;
}

export function takeBackForbidden(table: TableSnapshot): boolean {
  return table.configuration?.cancel_forbidden ?? false;
}

/** The stakes of the player's seat. */
export function ownStakes(own: OwnSeat | null): readonly IdentifiedBets[] {
  return (own?.stakes ?? []).map(({ stake_id, bets }) => ({ stake_id, bets: betsFromMessage(bets) }));
}
