// The display of the latest winning numbers (804/2015:6.e): encarnado above, preto below, zero between, as on the
// displays of casinos, so that the colour can be told without seeing it. Nothing is made of them but a list: earlier
// numbers say nothing about later ones.
import type { PastOutcome } from "../../api/messages";
import { dictionary } from "../../words/language";
import { colourClass, describe, numberOf } from "./outcome_words";
import "./last_numbers.css";

const words = dictionary(
  { title: "Últimos números, do mais recente para o mais antigo", none: "Ainda não saíram números." },
  { title: "Latest numbers, newest first", none: "No numbers have been drawn yet." },
);

export function LastNumbers({ past }: { past: readonly PastOutcome[] }) {
  const drawn = past.filter(({ outcome }) => numberOf(outcome));
  if (!drawn.length) return <p class="last-numbers-none quiet">{words().none}</p>;
  return (
    <ol class="last-numbers figures" aria-label={words().title} data-testid="last-numbers">
      {drawn.map(({ round_id, outcome }) => {
        const number = numberOf(outcome);
        return (
          <li key={round_id} class={`last-number ${colourClass(number)}`} data-number={number}>
            <span aria-hidden="true">{number}</span>
            <span class="unseen">{describe(outcome)}</span>
          </li>
        );
      })}
    </ol>
  );
}
