// A table that is not listed: nobody enters it, and who plays there was given a seat. Others are led to what it belongs to.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { TableSummary } from "../../api/messages";
import { identity } from "../../api/platform";
import { OUTCOME_UNKNOWN } from "../../api/refusal";
import { addressOf } from "../../browser/routes";
import { Empty } from "../../design/empty";
import { loadedGame } from "../../game_interface/registered_games";
import { LiveTable } from "../live/live_table";
import { SeatedPage } from "./seated_page";
import { WaitingPage } from "./waiting_page";
import { tableWords } from "./words";

interface Props {
  tableId: string;
  /** Shown where there is no such table. */
  unknown: JSX.Element;
}

export function AppointedPage({ tableId, unknown }: Props) {
  const [table, setTable] = useState<LiveTable | null>(null);
  const [attempt, setAttempt] = useState(0);
  // Another login is another player, with a seat of their own.
  const { kind } = identity.value;
  useEffect(() => {
    const live = new LiveTable(tableId, false, true, true);
    setTable(live);
    return () => live.close();
  }, [tableId, attempt, kind]);
  const again = () => setAttempt(attempt + 1);
  const snapshot = table?.snapshot.value;
  const reason = table?.refusal.value?.reason;
  if (!table || (table.state.value === "entering" && !snapshot)) return <WaitingPage />;
  if (reason === "NOT_SEATED" && snapshot) {
    return <NotSeatedPage tableId={tableId} game={snapshot.configuration?.game ?? ""} onAgain={again} />;
  }
  if (!snapshot) return OUTCOME_UNKNOWN.has(reason ?? "") ? <WaitingPage onAgain={again} /> : unknown;
  const { configuration } = snapshot;
  const listed: TableSummary = {
    table_id: tableId,
    ...(configuration && { configuration }),
    configuration_version: snapshot.configuration_version,
    enabled: true,
    seated: snapshot.seated,
  };
  return <SeatedPage table={table} listed={listed} loginEnded={false} onAgain={again} />;
}

/** The player has no seat at this table, or not any more. */
function NotSeatedPage({ tableId, game, onAgain }: { tableId: string; game: string; onAgain: () => void }) {
  const words = tableWords();
  const place = loadedGame(game)?.pageOfTable?.(tableId);
  return (
    <main id="main" class="page" tabIndex={-1}>
      <Empty
        icon="table"
        page
        title={words.notAppointed}
        testId="not-appointed"
        actions={
          <>
            {place !== undefined && (
              <a class="button first" href={addressOf({ page: "game", game, place })} data-testid="to-game-page">
                {words.toGamePage}
              </a>
            )}
            <button type="button" class="button" onClick={onAgain}>
              {words.tryAgain}
            </button>
          </>
        }
      >
        <p>{words.notAppointedText}</p>
      </Empty>
    </main>
  );
}
