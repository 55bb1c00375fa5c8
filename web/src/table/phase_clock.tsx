// The clock of a table: how long bets are taken, by the server's time, and what the table is doing meanwhile.
import { useLayoutEffect, useState } from "preact/hooks";
import type { Words } from "../api/messages";
import { Icon } from "../design/icon";
import { dictionary } from "../words/language";
import { voidWords } from "../words/reasons";
import { heldBack } from "./held_balance";
import type { LiveTable } from "./live_table";
import { tell } from "./phase";
import { useServerNow } from "./ticking";
import "./phase_clock.css";

const words = dictionary(
  {
    left: (s: number) => (s === 1 ? "Falta 1 segundo" : `Faltam ${s} segundos`),
    last: "Últimos segundos",
    closing: "As apostas estão a fechar",
  },
  {
    left: (s: number) => (s === 1 ? "1 second left" : `${s} seconds left`),
    last: "Last seconds",
    closing: "Bets are closing",
  },
);

const LAST_S = 5;
const AROUND = 2 * Math.PI * 21;

/** What was told of the round that has just ended; the picture of a table does not hold it. */
function useEnding(table: LiveTable): { nextRoundAt?: string | undefined; voidWords?: Words | undefined } {
  const [ending, end] = useState<{ nextRoundAt?: string | undefined; voidWords?: Words | undefined }>({});
  useLayoutEffect(
    () =>
      table.onEvent((event) => {
        if (event.round_settled) end({ nextRoundAt: event.round_settled.next_round_at });
        else if (event.round_void) end({ voidWords: voidWords(event.round_void) });
        else if (event.round_opened || event.table_resting) end({});
      }),
    [table],
  );
  return ending;
}

export function PhaseClock({ table }: { table: LiveTable }) {
  const snapshot = table.snapshot.value;
  const counts =
    snapshot?.phase === "PHASE_BETTING" ? Boolean(snapshot.round?.closes_at) : snapshot?.phase === "PHASE_SHOWN";
  const now = useServerNow(counts ? 200 : 0);
  const told = tell(snapshot, {
    ...useEnding(table),
    individual: table.individual.value,
    now,
    unfolding: heldBack.value,
    seated: table.doing.value === "playing",
  });
  // A window is some milliseconds longer than announced, never shorter: of fifteen seconds fifteen are the most that is shown.
  const most = Math.max(1, Math.round((told.window_ms ?? 0) / 1000));
  const left = told.remaining_ms === undefined ? null : Math.min(Math.ceil(told.remaining_ms / 1000), most);
  const last = left !== null && left <= LAST_S;
  const share = told.remaining_ms === undefined ? 0 : Math.min(1, told.remaining_ms / (told.window_ms ?? 1));
  return (
    <div class={`phase phase-${told.stage}${last ? " phase-last" : ""}`} data-testid="phase" data-stage={told.stage}>
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
        <span class="phase-middle figures">{left === null ? <Middle stage={told.stage} /> : left}</span>
      </div>
      <div class="phase-words">
        {/* Only a change of phase is announced; the seconds are there to be read. */}
        <strong role="status">{told.headline}</strong>
        <span class="phase-detail">
          {left === null ? (
            told.detail
          ) : (
            <span data-testid="seconds-left" data-seconds={left}>
              {last && left > 0 && <span class="phase-hurry">{words().last} · </span>}
              {left > 0 ? words().left(left) : words().closing}
            </span>
          )}
        </span>
      </div>
    </div>
  );
}

function Middle({ stage }: { stage: string }) {
  if (stage === "bets") return <Icon name="play" />;
  if (stage === "disabled" || stage === "void") return <Icon name="warning" />;
  if (stage === "closed") return <Icon name="close" />;
  if (stage === "shown") return <Icon name="check" />;
  return <Icon name="clock" />;
}
