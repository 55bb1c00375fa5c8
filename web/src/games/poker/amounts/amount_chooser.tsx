// An amount by slider, by steps and by typing; what cannot be taken says why, with the bounds.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { amount, type Unit } from "../../../words/money";
import type { AmountChoice } from "./amount_choice";
import { amountWords } from "./words";
import "./amount_chooser.css";

interface Props {
  choice: AmountChoice;
  mode: Unit;
  label: string;
  /** Enter in the field. */
  onEnter: () => void;
  /** Amounts that are chosen at once. */
  children?: ComponentChildren;
}

export function AmountChooser({ choice, mode, label, onEnter, children }: Props) {
  const words = amountWords();
  const id = useId();
  const { problem } = choice.typed.value;
  const { minimum_cents, maximum_cents } = choice.range;
  const chosen = choice.cents.value;
  const only = minimum_cents === maximum_cents;
  return (
    <div class="amount-chooser" data-testid="amount-chooser" data-cents={chosen ?? ""}>
      {children}
      <div class="amount-line">
        {!only && (
          <>
            <button type="button" class="button icon" aria-label={words.less} onClick={() => choice.move(-1)}>
              −
            </button>
            <label class="amount-slider">
              <span class="unseen">
                {label} {words.slider}
              </span>
              <input
                type="range"
                min={0}
                max={choice.stops - 1}
                step={1}
                value={choice.stop.value}
                aria-valuetext={chosen === null ? choice.text.value : amount(chosen, mode)}
                onInput={(event) => choice.setStop(Number(event.currentTarget.value))}
                data-testid="amount-slider"
              />
            </label>
            <button type="button" class="button icon" aria-label={words.more} onClick={() => choice.move(1)}>
              +
            </button>
          </>
        )}
        <label class="amount-field">
          <span class="unseen">{label}</span>
          <input
            type="text"
            inputMode="decimal"
            autocomplete="off"
            class="figures"
            value={choice.text.value}
            readOnly={only}
            aria-invalid={problem !== null}
            aria-describedby={problem ? `${id}-problem` : undefined}
            onInput={(event) => {
              choice.text.value = event.currentTarget.value;
            }}
            onFocus={(event) => event.currentTarget.select()}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.repeat) return;
              event.preventDefault();
              onEnter();
            }}
            data-testid="amount-field"
          />
        </label>
      </div>
      <p class="amount-problem" id={`${id}-problem`} role="alert" data-testid="amount-problem">
        {problem && words.problem(problem, amount(minimum_cents, mode), amount(maximum_cents, mode))}
      </p>
    </div>
  );
}
