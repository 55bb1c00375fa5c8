// How much a raise is: parts of the pot, the slider, and the field.
import { letterKeys } from "../../../design/letter_keys";
import { amount, type Unit } from "../../../words/money";
import type { AmountChoice } from "../amounts/amount_choice";
import { AmountChooser } from "../amounts/amount_chooser";
import type { Decisions } from "./decisions";
import { POT_PARTS, raiseTo } from "./raise_amounts";
import { actWords } from "./words";
import "./raise_control.css";

interface Props {
  decisions: Decisions;
  choice: AmountChoice;
  mode: Unit;
}

export function RaiseControl({ decisions, choice, mode }: Props) {
  const words = actWords();
  const question = decisions.question.value;
  const { minimum_cents, maximum_cents } = choice.range;
  return (
    <div class="raise-control">
      <AmountChooser choice={choice} mode={mode} label={words.raiseAmount} onEnter={() => decisions.raise()}>
        {question && minimum_cents < maximum_cents && (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset within the turn's fieldset would be announced each time
          <div class="raise-parts" role="group" aria-label={words.partsLabel}>
            {POT_PARTS.map((part, index) => {
              const to_cents = raiseTo(part, question);
              return (
                <button
                  key={part}
                  type="button"
                  class="raise-part"
                  aria-pressed={choice.cents.value === to_cents}
                  aria-keyshortcuts={letterKeys.value ? String(index + 1) : undefined}
                  title={amount(to_cents, mode)}
                  onClick={() => decisions.choosePart(part)}
                  data-testid={`part-${part}`}
                  data-cents={to_cents}
                >
                  {words.parts[part]}
                  {part !== "pot" && part !== "max" && <span class="unseen"> {words.partsOf}</span>}
                  {letterKeys.value && (
                    <span class="raise-part-key" aria-hidden="true">
                      {index + 1}
                    </span>
                  )}
                </button>
              );
            })}
          </div>
        )}
      </AmountChooser>
    </div>
  );
}
