// The result of a round for the player.
import type { Cents } from "../../../words/money";
import type { Outcome } from "../messages/messages";

/** A round whose outcome is known. */
export interface RoundResult {
  round_id: string;
  outcome: Outcome;
  /** The platform has settled the round. */
  settled: boolean;
  /** The player's places, and what they staked there and got back. */
  places: ReadonlySet<number>;
  staked_cents: Cents;
  payout_cents: Cents;
}
