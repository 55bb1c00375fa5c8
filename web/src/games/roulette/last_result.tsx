// What the last round came to, in one line, while the next one takes bets: on a phone the plaque would be in the way. One
// tap tells all of it, as the list of own rounds does on a wide screen.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { RoundStory } from "../../account/round_story";
import type { Mode, PlayerRound } from "../../api/messages";
import { Sheet } from "../../design/sheet";
import { dictionary } from "../../words/language";
import type { Told } from "./felt_story";
import { resultInWords } from "./outcome_called";
import { colourClass } from "./outcome_words";
import { roundPlayed } from "./own_round";
import "./last_result.css";

const words = dictionary(
  { last: "Última jogada", hint: "Ver a jogada", round: "A jogada" },
  { last: "Last round", hint: "See the round", round: "The round" },
);

interface Props {
  told: Told;
  mode: Mode;
  onTell: () => void;
}

export function LastResult({ told, mode, onTell }: Props) {
  const what = (
    <>
      <b class={`last-result-number figures ${colourClass(told.number)}`}>{told.number}</b>
      <span class="last-result-words">
        <span class="quiet">{words().last}</span>
        <strong>{resultInWords(told.staked_cents, told.payout_cents, mode)}</strong>
      </span>
    </>
  );
  const named = { class: "last-result", "data-testid": "last-result", "data-number": told.number };
  // Of a round in which he had no bets there is nothing more to tell.
  if (told.staked_cents === 0) return <span {...named}>{what}</span>;
  return (
    <button type="button" {...named} title={words().hint} onClick={onTell}>
      {what}
    </button>
  );
}

/** How a round is told, and the sheet in which it is. */
export function useRoundTold(tableId: string): { tell: (round_id: string) => void; sheet: ComponentChildren } {
  const [round, show] = useState<PlayerRound | null>(null);
  const tell = (round_id: string) => {
    // Without it he has still read what it came to.
    roundPlayed(tableId, round_id).then(
      (found) => show(found ?? null),
      () => undefined,
    );
  };
  const sheet = round && (
    <Sheet title={words().round} onClose={() => show(null)} testId="last-round-told">
      <RoundStory round={round} />
    </Sheet>
  );
  return { tell, sheet };
}
