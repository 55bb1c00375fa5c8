// The clock of a table: how long bets are taken, by the platform's time, and what the table is doing otherwise.
import { useLayoutEffect, useState } from "preact/hooks";
import type { LocalizedText, TableSnapshot } from "../../api/messages";
import { Icon } from "../../design/icon";
import { useServerNow } from "../../design/use_clock";
import { dictionary } from "../../words/language";
import { voidText } from "../../words/reasons";
import type { LiveTable } from "./live_table";
import { phaseText, type Stage } from "./phase_text";
import { resultPending } from "./result_pending";
import "./phase_clock.css";

const phaseClockWords = dictionary(
  {
    left: (s: number) => (s === 1 ? "Falta 1 segundo" : `Faltam ${s} segundos`),
    last: "Últimos segundos",
    closing: "As apostas estão a fechar",
    ending: "O tempo para decidir acabou",
  },
  {
    left: (s: number) => (s === 1 ? "1 second left" : `${s} seconds left`),
    last: "Last seconds",
    closing: "Bets are closing",
    ending: "The time to decide is over",
  },
);

const LAST_S = 5;
const AROUND = 2 * Math.PI * 21;

/** Why the last round was void, if it was; the snapshot does not hold it. */
function useVoidWords(table: LiveTable, emptied: LocalizedText): LocalizedText | undefined {
  const [words, setWords] = useState<LocalizedText | undefined>(undefined);
  useLayoutEffect(
    () =>
      table.onEvent((event) => {
        if (event.round_voided) setWords(voidText(event.round_voided, emptied));
        else if (event.round_opened || event.round_settled || event.table_emptied) setWords(undefined);
      }),
    [table],
  );
  return words;
}

interface Props {
  table: LiveTable;
  /** Shown where the player starts the round. */
  ownPace: string;
  /** Why a round is void in which every bet was taken back. */
  emptied: LocalizedText;
  /** What happens between the last bet and the result. */
  unfolding?: string;
}

export function PhaseClock({ table, ownPace, emptied, unfolding }: Props) {
  const snapshot = table.snapshot.value;
  const counts = showsTime(snapshot);
  const now = useServerNow(counts ? 200 : 0);
  const phase = phaseText(snapshot, {
    voidWords: useVoidWords(table, emptied),
    ownPace,
    individual: table.individual.value,
    now,
    resultPending: resultPending.value,
    seated: table.state.value === "playing",
    unfolding,
    dealing: table.dealing.value,
    seat: table.ownSeat.value?.seat,
  });
  // A window may be some milliseconds longer than announced: fifteen seconds never show as sixteen.
  const maximum = Math.max(1, Math.round((phase.window_ms ?? 0) / 1000));
  const left = phase.remaining_ms === undefined ? null : Math.min(Math.ceil(phase.remaining_ms / 1000), maximum);
  const last = left !== null && left <= LAST_S;
  const share = phase.remaining_ms === undefined ? 0 : Math.min(1, phase.remaining_ms / (phase.window_ms ?? 1));
  return (
    <div class={`phase phase-${phase.stage}${last ? " phase-last" : ""}`} data-testid="phase" data-stage={phase.stage}>
      <div class="phase-ring" aria-hidden="true">
        <svg viewBox="0 0 48 48" aria-hidden="true">
          <circle class="phase-track" cx="24" cy="24" r="21" />
          {left !== null && (
            <circle
              class="phase-left"
              cx="24"
              cy="24"
              r="21"
              stroke-dasharray={AROUND}
              stroke-dashoffset={AROUND * (1 - share)}
            />
          )}
        </svg>
        <span class={left !== null && left > 99 ? "phase-middle phase-hundreds figures" : "phase-middle figures"}>
          {left === null ? <ClockMiddle stage={phase.stage} /> : left}
        </span>
      </div>
      <div class="phase-words">
        {/* Only a change of phase is announced to screen readers, not every second. */}
        <strong role="status">{phase.headline}</strong>
        <span class="phase-detail">
          {left === null ? (
            phase.detail
          ) : (
            <span data-testid="seconds-left" data-seconds={left}>
              {last && left > 0 && <span class="phase-hurry">{phaseClockWords().last} · </span>}
              {left > 0 ? phaseClockWords().left(left) : timeOverText(phase.stage)}
            </span>
          )}
        </span>
      </div>
    </div>
  );
}

function showsTime(snapshot: TableSnapshot | null): boolean {
  if (snapshot?.phase === "PHASE_BETTING") return Boolean(snapshot.round?.closes_at);
  return snapshot?.phase === "PHASE_RESULT_SHOWN" || snapshot?.phase === "PHASE_PLAYING";
}

function timeOverText(stage: Stage): string {
  const { ending, closing } = phaseClockWords();
  return stage === "turn" ? ending : closing;
}

function ClockMiddle({ stage }: { stage: string }) {
  if (stage === "bets" || stage === "turn") return <Icon name="play" />;
  if (stage === "disabled" || stage === "void") return <Icon name="warning" />;
  if (stage === "closed") return <Icon name="close" />;
  if (stage === "shown") return <Icon name="check" />;
  return <Icon name="clock" />;
}
