// The latest hands of a table, newest first: who won, and how much lay in the pots.
import type { PastOutcome } from "../../../api/messages";
import { shortAmount } from "../../../words/money";
import { handSummary, outcomeLabel, winnersShort } from "../words/outcomes";
import { pokerWords } from "../words/table_words";
import "./last_hands.css";

export function LastHands({ past }: { past: readonly PastOutcome[] }) {
  const words = pokerWords();
  if (past.length === 0) return <span class="poker-last quiet">{words.noHands}</span>;
  return (
    <ol class="poker-last" aria-label={words.lastHands} data-testid="last-hands">
      {past.map(({ round_id, outcome }) => {
        const summary = handSummary(outcome);
        return (
          <li key={round_id} class="poker-last-hand figures" title={outcome && outcomeLabel(outcome)}>
            <span aria-hidden="true">
              {winnersShort(summary)} <strong>{shortAmount(summary.pot_cents)}</strong>
            </span>
            <span class="unseen">{outcome && outcomeLabel(outcome)}</span>
          </li>
        );
      })}
    </ol>
  );
}
