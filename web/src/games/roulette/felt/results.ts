// The result of a round.
import type { Any } from "../../../api/messages";
import type { PlacedBets } from "../../../bets/bets";
import type { Cents } from "../../../words/money";

/** The result of a round for the player. */
export interface OwnResult {
  /** The player's bets. */
  bets: PlacedBets;
  /** The platform has settled the round; until then nothing is collected or paid. */
  settled: boolean;
  staked_cents: Cents;
  payout_cents: Cents;
}

export interface RoundResult extends OwnResult {
  round_id: string;
  outcome: Any;
  number: string;
}
