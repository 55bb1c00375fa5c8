// The plaque with the drawn number and the player's result. A payout below the stake is no win, and not called one.
import type { Any, Mode } from "../../../api/messages";
import { ResultLines } from "../../../results/result_lines";
import { verdict } from "../../../results/verdict";
import type { Cents } from "../../../words/money";
import { colourClass, drawnNumber, numberQualities } from "../words/outcomes";
import "../../../results/outcome_plaque.css";

interface Props {
  /** A `feltro.roulette.v1.Outcome`; null while there is none to show. */
  outcome: Any | null;
  /** The player's stakes; 0 if there were none. */
  staked_cents: Cents;
  /** The payout, the stakes of winning bets included. */
  payout_cents: Cents;
  /** The prizes of the winning bets, where they are known. */
  prize_cents?: Cents;
  mode: Mode;
}

export function OutcomePlaque({ outcome, staked_cents, payout_cents, prize_cents, mode }: Props) {
  const number = drawnNumber(outcome);
  const result = verdict(staked_cents, payout_cents);
  return (
    // Always in the page, so that screen readers announce its content.
    <div class="outcome-called" role="status" data-testid="outcome-called" data-verdict={number ? result : undefined}>
      {number && (
        <div class={`outcome-plaque outcome-${result}`} key={number}>
          <strong class={`outcome-number figures ${colourClass(number)}`}>{number}</strong>
          <span class="outcome-qualities">{numberQualities(number)}</span>
          <ResultLines
            staked={staked_cents}
            payout={payout_cents}
            {...(prize_cents === undefined ? {} : { prize: prize_cents })}
            mode={mode}
          />
        </div>
      )}
    </div>
  );
}
