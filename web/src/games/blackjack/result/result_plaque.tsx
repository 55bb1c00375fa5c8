// The plaque with the player's result, and the bank's.
import { inLanguage } from "../../../words/language";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import { insuranceResult, verdict } from "../round/hand_results";
import { outcomeLabel } from "../words/outcomes";
import { insuranceText, roundDetailText, roundResultText } from "../words/result_words";
import "./result_plaque.css";

interface Props {
  felt: BlackjackFelt;
  at: { x: number; y: number };
}

export function ResultPlaque({ felt, at }: Props) {
  const result = felt.readable.value;
  const voided = felt.voided.value;
  const mode = felt.table.mode.value;
  const shown = result ? verdict(result.staked_cents, result.payout_cents) : undefined;
  return (
    // Always in the page, so that screen readers announce its content.
    <div
      class="result-place"
      role="status"
      style={{ left: `${at.x}px`, top: `${at.y}px` }}
      data-testid="result"
      data-verdict={shown}
    >
      {voided && <p class="result-plaque result-void">{inLanguage(voided)}</p>}
      {result && !voided && (
        <div class={`result-plaque result-${shown}`} key={result.round_id}>
          <strong class="figures" data-testid="result-headline">
            {roundResultText(result.staked_cents, result.payout_cents, mode)}
          </strong>
          <span class={result.staked_cents > 0 ? "result-staked figures" : "figures"}>
            <span class="result-bank">
              {outcomeLabel(result.outcome)}
              {result.staked_cents > 0 && " · "}
            </span>
            {roundDetailText(result.staked_cents, result.payout_cents, mode)}
          </span>
          {[...result.places].map((place) => {
            const insured = insuranceResult(result.outcome, place);
            return (
              insured && (
                <span key={place} class="figures">
                  {insuranceText(insured.staked_cents, insured.payout_cents, mode)}
                </span>
              )
            );
          })}
        </div>
      )}
    </div>
  );
}
