// The plaque with the winner, both scores, the pairs and the player's result.
import type { Mode } from "../../../api/messages";
import { ResultLines } from "../../../results/result_lines";
import { verdict } from "../../../results/verdict";
import { amount, type Cents } from "../../../words/money";
import type { RoundResult } from "../deal/results";
import type { Felt } from "../felt/felt";
import { describeOutcome, winnerSide } from "../words/outcomes";
import { baccaratWords } from "../words/table_words";
import "../../../results/outcome_plaque.css";
import "./result_plaque.css";

interface Props {
  felt: Felt;
  /** Null while there is none to show. */
  result: RoundResult | null;
  mode: Mode;
}

export function ResultPlaque({ felt, result, mode }: Props) {
  const shown = result?.settled ? result : null;
  const how = shown ? verdict(shown.staked_cents, shown.payout_cents) : undefined;
  return (
    // Always in the page, so that screen readers announce its content.
    <div class="outcome-called" role="status" data-testid="outcome-called" data-verdict={how}>
      {shown && (
        <div class={`outcome-plaque outcome-${how}`} key={shown.round_id}>
          <strong class={`outcome-number outcome-of-${winnerSide(shown.outcome.winner)} figures`} aria-hidden="true">
            <span>
              {shown.outcome.ponto_score}
              <span class="outcome-dash">–</span>
              {shown.outcome.banca_score}
            </span>
          </strong>
          <span class="outcome-qualities">{describeOutcome(shown.outcome)}</span>
          <ResultLines
            staked={shown.staked_cents}
            payout={shown.payout_cents}
            prize={felt.prizeOf(shown)}
            mode={mode}
            more={commissionText(felt.commissionOf(shown), mode)}
          />
        </div>
      )}
    </div>
  );
}

/** What was deducted from the prize (812/2015:26); empty if nothing was. */
function commissionText(commission: Cents, mode: Mode): string {
  return commission ? baccaratWords().commissionPaid(amount(commission, mode)) : "";
}
