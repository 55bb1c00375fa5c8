// The latest outcomes in one line, newest first. Nothing but a list: earlier rounds say nothing about later ones.
import type { PastOutcome } from "../../../api/messages";
import { describeOutcome, outcomeOf, winnerLetter, winnerSide } from "../words/outcomes";
import { baccaratWords } from "../words/table_words";
import "../roads/roads.css";
import "./beads.css";

export function Beads({ past }: { past: readonly PastOutcome[] }) {
  const known = past.flatMap(({ round_id, outcome }) => {
    const found = outcomeOf(outcome);
    return found ? [{ round_id, outcome: found }] : [];
  });
  if (!known.length) return <p class="beads-none quiet">{baccaratWords().none}</p>;
  return (
    <ol class="beads" aria-label={baccaratWords().latest} data-testid="beads">
      {known.map(({ round_id, outcome }) => (
        <li key={round_id} class={`is-${winnerSide(outcome.winner)}`} data-winner={outcome.winner}>
          <span aria-hidden="true">{winnerLetter(outcome.winner)}</span>
          <span class="unseen">{describeOutcome(outcome)}</span>
        </li>
      ))}
    </ol>
  );
}
