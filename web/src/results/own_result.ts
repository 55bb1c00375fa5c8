// The player's result of a round, whatever the game.
import type { PlacedBets } from "../bets/bets";
import type { Cents } from "../words/money";

export interface OwnResult {
  /** The player's bets. */
  bets: PlacedBets;
  /** The platform has settled the round; until then nothing is collected or paid. */
  settled: boolean;
  staked_cents: Cents;
  payout_cents: Cents;
}
