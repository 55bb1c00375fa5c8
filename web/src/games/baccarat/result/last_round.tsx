// The last round of the table in pictures and words, while the next one takes bets (812/2015:31). A click opens the player's own.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { PlayerRound } from "../../../api/messages";
import { Sheet } from "../../../design/overlays/sheet";
import { readPlayerRound } from "../../../results/round_record";
import { resultText } from "../../../results/verdict";
import { RoundStory } from "../../../rounds/round_story";
import type { Felt } from "../felt/felt";
import { describeOutcome, outcomeOf } from "../words/outcomes";
import { baccaratWords } from "../words/table_words";
import { MiniHands } from "./mini_hands";
import "./last_round.css";

interface Props {
  felt: Felt;
  onOpen: (round_id: string) => void;
}

export function LastRound({ felt, onOpen }: Props) {
  const words = baccaratWords();
  const newest = felt.sequence.visiblePast.value[0];
  const outcome = outcomeOf(newest?.outcome);
  if (!newest || !outcome) return <p class="last-round last-round-none quiet">{words.firstRound}</p>;
  const kept = felt.sequence.keptResult.value;
  const own = kept?.round_id === newest.round_id && kept.staked_cents > 0 ? kept : null;
  const content = (
    <>
      <span class="last-round-words">
        <span class="quiet">{words.lastRound}</span>
        <strong>{describeOutcome(outcome)}</strong>
        {own && <span class="figures">{resultText(own.staked_cents, own.payout_cents, felt.table.mode.value)}</span>}
      </span>
      <MiniHands outcome={outcome} />
    </>
  );
  const named = { class: "last-round", "data-testid": "last-round-line", "data-round": newest.round_id };
  if (!own) return <div {...named}>{content}</div>;
  return (
    <button type="button" {...named} title={words.lastRoundHint} onClick={() => onOpen(newest.round_id)}>
      {content}
    </button>
  );
}

/** Opens a sheet with a past round of the player's. */
export function usePastRoundSheet(tableId: string): { open: (round_id: string) => void; sheet: ComponentChildren } {
  const [round, setRound] = useState<PlayerRound | null>(null);
  const open = (round_id: string) => {
    // If it cannot be read, the line has still shown the result.
    readPlayerRound("baccarat", tableId, round_id).then(
      (found) => setRound(found ?? null),
      () => undefined,
    );
  };
  const sheet = round && (
    <Sheet title={baccaratWords().round} onClose={() => setRound(null)} testId="last-round-told">
      <RoundStory game="baccarat" round={round} />
    </Sheet>
  );
  return { open, sheet };
}
