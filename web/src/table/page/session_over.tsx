// The end of a session: its summary, after the last round's result has been shown.
import { useEffect, useRef, useState } from "preact/hooks";
import { identity, logIn, operator } from "../../api/platform";
import { addressOf } from "../../browser/routes";
import { Sheet } from "../../design/overlays/sheet";
import { SessionSummaryView } from "../../sessions/session_summary";
import type { LiveTable } from "../live/live_table";
import { resultPending } from "../live/result_pending";
import { tableWords } from "./words";

// The last result is seen before the summary covers it (903-B/2015:6.2.3).
const RESULT_SEEN_MS = 5_000;

/** The session is over, and its last result has been shown, or is not to be expected any more. */
export function useSessionOver(table: LiveTable): boolean {
  const left = table.state.value === "left";
  const withRound = useRef(false);
  if (table.session.value?.state === "SESSION_STATE_ENDING") withRound.current = true;
  const seen = left && ((!resultPending.value && !table.dealing.value) || !table.followed.value);
  const [over, setOver] = useState(false);
  useEffect(() => {
    setOver(false);
    if (!seen) return;
    const ending = setTimeout(() => setOver(true), withRound.current ? RESULT_SEEN_MS : 0);
    withRound.current = false;
    return () => clearTimeout(ending);
  }, [seen]);
  return over && seen;
}

export function SessionOver({ table, onComplain }: { table: LiveTable; onComplain: () => void }) {
  const ended = table.ended.value;
  const session = ended?.session ?? table.session.value;
  if (!session) return null;
  const mode = session.mode;
  return (
    <Sheet
      title={tableWords().over}
      testId="session-over"
      actions={
        <>
          <button type="button" class="button plain" onClick={onComplain}>
            {tableWords().complaint}
          </button>
          <a class="button" href={addressOf({ page: "lobby" })} data-testid="to-tables">
            {tableWords().toTables}
          </a>
          {identity.value.kind === "nobody" && mode !== "MODE_DEMO" && operator.value.login_url ? (
            <button type="button" class="button first" onClick={logIn}>
              {tableWords().logIn}
            </button>
          ) : (
            <button type="button" class="button first" onClick={() => table.join()} data-testid="sit-again">
              {tableWords().sitAgain}
            </button>
          )}
        </>
      }
    >
      <SessionSummaryView session={session} summary={ended?.summary} />
    </Sheet>
  );
}
