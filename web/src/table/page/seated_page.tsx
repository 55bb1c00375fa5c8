// The page of a seated player: the table's bar, its game, sheets and notices.
import { useEffect, useState } from "preact/hooks";
import type { PlayerRound, TableSummary } from "../../api/messages";
import { goTo } from "../../browser/routes";
import { ComplaintSheet, type Subject } from "../../complaints/complaint_sheet";
import type { Game } from "../../game_interface/game";
import { loadedGame } from "../../game_interface/registered_games";
import { HistorySheet, LastRoundSheet } from "../../rounds/history_sheet";
import { readLastRound } from "../../rounds/last_round";
import { RulesSheet } from "../../rules/rules_sheet";
import { inLanguage } from "../../words/language";
import { dateTime } from "../../words/times";
import type { LiveTable } from "../live/live_table";
import { resultPending } from "../live/result_pending";
import { InactivityNotice } from "../notices/inactivity_notice";
import { PreviousSession } from "../notices/previous_session";
import { TableTabs } from "../tabs/table_tabs";
import { endSession, LeaveSheet } from "./leave_sheet";
import { LoginEndedPage, SeatRefusedPage } from "./no_seat_pages";
import { SeatPicker } from "./seat_picker";
import { SessionOver, useSessionOver } from "./session_over";
import { TableBar, type TableTool } from "./table_bar";
import { WaitingFelt } from "./waiting_page";
import { tableWords } from "./words";

type Shown = TableTool | "leave" | null;

interface Props {
  table: LiveTable;
  listed: TableSummary;
  loginEnded: boolean;
  onAgain: () => void;
}

export function SeatedPage({ table, listed, loginEnded, onAgain }: Props) {
  const [shown, setShown] = useState<Shown>(null);
  const [complaintRound, setComplaintRound] = useState<PlayerRound | null>(null);
  const state = table.state.value;
  const snapshot = table.snapshot.value;
  const choosing = table.seatChoice.table.value;
  const shownTable = choosing ?? snapshot;
  const session = table.session.value;
  const configuration = shownTable?.configuration ?? listed.configuration;
  const game = loadedGame(configuration?.game);
  const mode = configuration?.mode ?? "MODE_REAL";
  const playing = state === "playing" && !loginEnded;
  const over = useSessionOver(table);
  const pending = pendingRounds(table);
  const tableId = table.tableId.value;
  const close = () => setShown(null);
  useEffect(() => {
    if (!playing) setShown((before) => (before === "leave" ? null : before));
  }, [playing]);
  const complainAboutRound = (round: PlayerRound) => {
    setComplaintRound(round);
    setShown("complaint");
  };
  return (
    <div class="table-page">
      <TableBar
        configuration={configuration}
        mode={mode}
        company={configuration?.play === "PLAY_INDIVIDUAL" ? undefined : shownTable?.seated}
        shoe={shownTable?.shoe}
        startedAt={playing ? session?.started_at : undefined}
        resultPending={resultPending.value || table.dealing.value}
        seated={playing}
        onTool={(tool) => {
          setComplaintRound(null);
          if (tool !== "complaint" || !configuration) setShown(tool);
          else {
            // Most complaints are about the round that was just seen.
            void readLastRound(configuration.game, tableId, pending)
              .then(setComplaintRound, () => undefined)
              .then(() => setShown("complaint"));
          }
        }}
        onLeave={() => (table.appointed ? leaveAppointed(game, configuration?.game, tableId) : setShown("leave"))}
      />
      <TableTabs shown={listed.table_id} />
      <main id="main" class="table-room" tabIndex={-1}>
        {loginEnded ? (
          <LoginEndedPage mode={mode} onAgain={onAgain} />
        ) : state === "refused" && table.refusal.value ? (
          <SeatRefusedPage refusal={table.refusal.value} listed={listed} onAgain={onAgain} />
        ) : choosing ? (
          <SeatPicker table={table} listed={listed} />
        ) : game && snapshot ? (
          // The game stays visible under the summary, and while the player sits down again.
          <game.Table key={tableId} table={table} />
        ) : (
          <WaitingFelt text={tableWords().entering} />
        )}
        {playing && (
          <div class="table-notices">
            <PreviousSession table={table} />
            {session?.state === "SESSION_STATE_ENDING" && <EndingNotice />}
            <InactivityNotice table={table} onEnd={() => void endSession(table)} />
          </div>
        )}
      </main>
      {shown === "rules" && (
        <RulesSheet tableId={listed.table_id} name={inLanguage(configuration?.name)} onClose={close} />
      )}
      {shown === "last" && configuration && (
        <LastRoundSheet
          {...{ tableId, pending }}
          game={configuration.game}
          onComplain={complainAboutRound}
          onClose={close}
        />
      )}
      {shown === "history" && configuration && (
        <HistorySheet
          {...{ tableId, pending }}
          game={configuration.game}
          onComplain={complainAboutRound}
          onClose={close}
        />
      )}
      {shown === "complaint" && (
        <ComplaintSheet
          mode={mode}
          accountId={session?.account_id}
          subjects={complaintSubjects(table, complaintRound)}
          onClose={close}
        />
      )}
      {shown === "leave" && playing && <LeaveSheet table={table} onClose={close} />}
      {over && !loginEnded && shown !== "complaint" && (
        <SessionOver table={table} onComplain={() => setShown("complaint")} />
      )}
    </div>
  );
}

/** Where a seat is given there is no session to end: the page changes, and the seat stays the player's. */
function leaveAppointed(game: Game | null, id: string | undefined, tableId: string): void {
  const place = game?.pageOfTable?.(tableId);
  goTo(id && place !== undefined ? { page: "game", game: id, place } : { page: "lobby" });
}

/** Rounds whose result must not be revealed yet. */
function pendingRounds(table: LiveTable): string[] {
  const snapshot = table.snapshot.value;
  const now = snapshot?.phase === "PHASE_RESULT_SHOWN" ? undefined : snapshot?.round?.round_id;
  // At an individual table the next round is open already while the last result is being shown.
  const unfolding = resultPending.value || table.dealing.value ? snapshot?.past_outcomes[0]?.round_id : undefined;
  return [now, unfolding].filter((id) => id !== undefined);
}

/** What the player can complain about here: the chosen round, and the session. */
function complaintSubjects(table: LiveTable, chosen: PlayerRound | null): Subject[] {
  const session = table.session.value;
  const subjects: Subject[] = [];
  if (chosen?.round) {
    const { round_id, opened_at } = chosen.round;
    subjects.push({ kind: "round", id: round_id, label: tableWords().onRound(dateTime(opened_at)) });
  }
  if (session) {
    const label = tableWords().onSession(dateTime(session.started_at));
    subjects.push({ kind: "session", id: session.session_id, label });
  }
  return subjects;
}

function EndingNotice() {
  return (
    <section class="inactivity" role="status" data-testid="ending">
      <h2>{tableWords().ending}</h2>
      <p class="quiet">{tableWords().endingHint}</p>
    </section>
  );
}
