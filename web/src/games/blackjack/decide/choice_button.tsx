// The button of one decision.
import { letterKeys } from "../../../design/letter_keys";
import { amount } from "../../../words/money";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import type { Possible } from "../felt/decisions";
import { decisionText } from "../words/decision_words";

interface ChoiceProps {
  felt: BlackjackFelt;
  possible: Possible;
  onChoose: () => void;
}

/** A decision with what it costs and its key. */
export function ChoiceButton({ felt, possible: { decision, cost_cents }, onChoose }: ChoiceProps) {
  const { act, hint, key } = decisionText(decision);
  return (
    <button
      type="button"
      class={`button choice choice-${decision.slice("DECISION_".length).toLowerCase().replace("_", "-")}`}
      title={hint}
      aria-disabled={felt.decisions.acting.value}
      aria-keyshortcuts={letterKeys.value ? key : undefined}
      data-testid={decision}
      data-cost={cost_cents}
      onClick={onChoose}
    >
      <span class="choice-act">{act}</span>
      {cost_cents > 0 && <span class="choice-cost figures">+ {amount(cost_cents, felt.table.mode.value)}</span>}
      {letterKeys.value && (
        <span class="choice-key" aria-hidden="true">
          {key}
        </span>
      )}
    </button>
  );
}
