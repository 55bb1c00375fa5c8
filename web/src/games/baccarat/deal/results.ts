// The result of a round.
import type { OwnResult } from "../../../results/own_result";
import type { Outcome } from "../layout/messages";

export interface RoundResult extends OwnResult {
  round_id: string;
  outcome: Outcome;
}
