// What the player is offered when the bank shows an ace, before anything else: insurance (805/2015:15.f), or an amount equal to
// the bet for a blackjack (20.b).
import { useState } from "preact/hooks";
import { amount, cents } from "../../../words/money";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import type { Question } from "../felt/decisions";
import { blackjackWords } from "../words/table_words";
import { ChoiceButton } from "./choice_button";
import "./offers.css";

interface Props {
  felt: BlackjackFelt;
  question: Question;
}

export function Insurance({ felt, question }: Props) {
  const words = blackjackWords();
  const mode = felt.table.mode.value;
  const limit = question.possible.find(({ decision }) => decision === "DECISION_INSURE")?.cost_cents ?? 0;
  const step = cents(felt.rules.step_cents) || 2;
  // Half of the bet, which is the most, is what most players insure.
  const [chosen, setChosen] = useState(limit);
  const set = (value: number) => setChosen(Math.min(limit, Math.max(step, value)));
  return (
    <div class="offer" data-testid="insurance">
      <div class="offer-words">
        <strong>{words.insuranceAsk(question.place)}</strong>
        <span class="quiet">{words.insuranceHint}</span>
      </div>
      {limit > 0 && (
        <div class="offer-amount">
          <button
            type="button"
            class="button icon"
            aria-label={words.less}
            onClick={() => set(chosen - bigStep(limit, step))}
          >
            −
          </button>
          <label>
            <span class="unseen">{words.insuranceAmount}</span>
            <input
              type="range"
              min={step}
              max={limit}
              step={step}
              value={chosen}
              aria-valuetext={amount(chosen, mode)}
              onInput={(event) => set(Number(event.currentTarget.value))}
              data-testid="insurance-amount"
            />
          </label>
          <button
            type="button"
            class="button icon"
            aria-label={words.more}
            onClick={() => set(chosen + bigStep(limit, step))}
          >
            +
          </button>
          <output class="figures" data-testid="insurance-chosen" data-cents={chosen}>
            {amount(chosen, mode)}
            {chosen === limit && <small class="quiet">{words.half}</small>}
          </output>
        </div>
      )}
      <div class="decision-choices">
        {question.possible.map(({ decision }) => (
          <ChoiceButton
            key={decision}
            felt={felt}
            possible={{ decision, cost_cents: decision === "DECISION_INSURE" ? chosen : 0 }}
            onChoose={() => void felt.decisions.decide(decision, decision === "DECISION_INSURE" ? chosen : 0)}
          />
        ))}
      </div>
    </div>
  );
}

/** What the buttons beside the amount add: a tenth of it, in the table's steps. */
function bigStep(limit: number, step: number): number {
  return Math.max(step, Math.round(limit / 10 / step) * step);
}

export function EvenMoney({ felt, question }: Props) {
  const words = blackjackWords();
  const hand = felt.cards.picture.value.hands.find(({ place }) => place === question.place);
  return (
    <div class="offer" data-testid="even-money">
      <div class="offer-words">
        <strong>{words.evenMoneyAsk(amount(cents(hand?.staked_cents), felt.table.mode.value))}</strong>
        <span class="quiet">{words.evenMoneyHint}</span>
      </div>
      <div class="decision-choices">
        {question.possible.map((possible) => (
          <ChoiceButton
            key={possible.decision}
            felt={felt}
            possible={possible}
            onChoose={() => void felt.decisions.decide(possible.decision)}
          />
        ))}
      </div>
    </div>
  );
}
