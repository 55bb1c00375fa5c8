// The latest winning numbers (804/2015:6.e): encarnado above, preto below, zero between, as on the displays of casinos, so
// that the position tells the colour too. Nothing but a list: earlier numbers say nothing about later ones.
import type { PastOutcome } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { colourClass, describeOutcome, drawnNumber } from "../words/outcomes";
import "./last_numbers.css";

const lastNumbersWords = dictionary(
  { title: "Últimos números, do mais recente para o mais antigo", none: "Ainda não saíram números." },
  { title: "Latest numbers, newest first", none: "No numbers have been drawn yet." },
);

export function LastNumbers({ past }: { past: readonly PastOutcome[] }) {
  const drawn = past.filter(({ outcome }) => drawnNumber(outcome));
  if (!drawn.length) return <p class="last-numbers-none quiet">{lastNumbersWords().none}</p>;
  return (
    <ol class="last-numbers figures" aria-label={lastNumbersWords().title} data-testid="last-numbers">
      {drawn.map(({ round_id, outcome }) => {
        const number = drawnNumber(outcome);
        return (
          <li key={round_id} class={`last-number ${colourClass(number)}`} data-number={number}>
            <span aria-hidden="true">{number}</span>
            <span class="unseen">{describeOutcome(outcome)}</span>
          </li>
        );
      })}
    </ol>
  );
}
