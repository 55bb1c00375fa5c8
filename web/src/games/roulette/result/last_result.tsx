// The last result in one line, while the next round takes bets: on a phone the plaque would be in the way. A tap opens the
// whole round, as the list of own rounds does on a wide screen.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Mode, PlayerRound } from "../../../api/messages";
import { Sheet } from "../../../design/overlays/sheet";
import { readPlayerRound } from "../../../results/round_record";
import { resultText } from "../../../results/verdict";
import { RoundStory } from "../../../rounds/round_story";
import { dictionary } from "../../../words/language";
import type { RoundResult } from "../felt/results";
import { colourClass } from "../words/outcomes";
import "./last_result.css";

const lastResultWords = dictionary(
  { last: "Última jogada", hint: "Ver a jogada", round: "A jogada" },
  { last: "Last round", hint: "See the round", round: "The round" },
);

interface Props {
  result: RoundResult;
  mode: Mode;
  onOpen: () => void;
}

export function LastResult({ result, mode, onOpen }: Props) {
  const content = (
    <>
      <b class={`last-result-number figures ${colourClass(result.number)}`}>{result.number}</b>
      <span class="last-result-words">
        <span class="quiet">{lastResultWords().last}</span>
        <strong>{resultText(result.staked_cents, result.payout_cents, mode)}</strong>
      </span>
    </>
  );
  const named = { class: "last-result", "data-testid": "last-result", "data-number": result.number };
  // Without bets there is nothing more to show.
  if (result.staked_cents === 0) return <span {...named}>{content}</span>;
  return (
    <button type="button" {...named} title={lastResultWords().hint} onClick={onOpen}>
      {content}
    </button>
  );
}

/** Opens a sheet with a past round. */
export function usePastRoundSheet(tableId: string): { open: (round_id: string) => void; sheet: ComponentChildren } {
  const [round, setRound] = useState<PlayerRound | null>(null);
  const open = (round_id: string) => {
    // If it cannot be read, the line has still shown the result.
    readPlayerRound("roulette", tableId, round_id).then(
      (found) => setRound(found ?? null),
      () => undefined,
    );
  };
  const sheet = round && (
    <Sheet title={lastResultWords().round} onClose={() => setRound(null)} testId="last-round-told">
      <RoundStory game="roulette" round={round} />
    </Sheet>
  );
  return { open, sheet };
}
