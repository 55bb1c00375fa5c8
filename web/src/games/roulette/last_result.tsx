// What the last round came to, in one line, while the next one takes bets: on a phone the plaque would be in the way.
import type { Mode } from "../../api/messages";
import { dictionary } from "../../words/language";
import type { Told } from "./felt_story";
import { resultInWords } from "./outcome_called";
import { colourClass } from "./outcome_words";
import "./last_result.css";

const words = dictionary({ last: "Última jogada" }, { last: "Last round" });

export function LastResult({ told, mode }: { told: Told; mode: Mode }) {
  return (
    <span class="last-result" data-testid="last-result" data-number={told.number}>
      <b class={`last-result-number figures ${colourClass(told.number)}`}>{told.number}</b>
      <span class="last-result-words">
        <span class="quiet">{words().last}</span>
        <strong>{resultInWords(told.staked_cents, told.payout_cents, mode)}</strong>
      </span>
    </span>
  );
}
