// The result of a round.
import type { Any } from "../../../api/messages";
import type { OwnResult } from "../../../results/own_result";

export interface RoundResult extends OwnResult {
  round_id: string;
  outcome: Any;
  number: string;
}
