// The end of a session: its summary, once what the last round brought has been seen.
import { useEffect, useRef, useState } from "preact/hooks";
import { logIn, operator, who } from "../api/platform";
import { Sheet } from "../design/sheet";
import { address } from "../routes";
import { heldBack } from "./held_balance";
import type { LiveTable } from "./live_table";
import { SummaryOfSession } from "./session_summary";
import { tableWords } from "./words";

// What the last round brought is to be seen before the summary lies over it (903-B/2015:6.2.3).
const RESULT_SEEN_MS = 5_000;

/** His session is over, and there is nothing left to see at the table. */
export function useOver(table: LiveTable): boolean {
  const left = table.doing.value === "left";
  const withRound = useRef(false);
  if (table.session.value?.state === "SESSION_STATE_ENDING") withRound.current = true;
  const seen = left && !heldBack.value;
  const [over, end] = useState(false);
  useEffect(() => {
    end(false);
    if (!seen) return;
    const ending = setTimeout(() => end(true), withRound.current ? RESULT_SEEN_MS : 0);
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
          <a class="button" href={address({ page: "lobby" })} data-testid="to-tables">
            {tableWords().toTables}
          </a>
          {who.value.kind === "nobody" && mode !== "MODE_DEMO" && operator.value.login_url ? (
            <button type="button" class="button first" onClick={logIn}>
              {tableWords().logIn}
            </button>
          ) : (
            <button type="button" class="button first" onClick={() => void table.enter()} data-testid="sit-again">
              {tableWords().sitAgain}
            </button>
          )}
        </>
      }
    >
      <SummaryOfSession session={session} summary={ended?.summary} />
    </Sheet>
  );
}
