// One who sits at a table: its bar, its game, and whatever he looks up or has to be told.
import { useEffect, useState } from "preact/hooks";
import type { PlayerRound, TableSummary } from "../api/messages";
import { gameOf } from "../loaded_games";
import { said } from "../words/language";
import { moment } from "../words/moments";
import { ComplaintSheet, type Subject } from "./complaint";
import { heldBack } from "./held_balance";
import { HistorySheet, LastRoundSheet } from "./history";
import { InactivityNotice } from "./inactivity";
import { lastRound } from "./last_round";
import { endSession, LeaveSheet } from "./leave";
import type { LiveTable } from "./live_table";
import { PreviousSession } from "./previous_session";
import { RulesSheet } from "./rules";
import { SessionOver, useOver } from "./session_over";
import { type Lookup, TableBar } from "./table_bar";
import { Skeleton } from "./waiting";
import { OutOfIt, Refused } from "./ways_on";
import { tableWords } from "./words";

type Shown = Lookup | "leave" | null;

interface Props {
  table: LiveTable;
  listed: TableSummary;
  out: boolean;
  onAgain: () => void;
}

export function Seated({ table, listed, out, onAgain }: Props) {
  const [shown, show] = useState<Shown>(null);
  const [complainOf, complain] = useState<PlayerRound | null>(null);
  const doing = table.doing.value;
  const snapshot = table.snapshot.value;
  const session = table.session.value;
  const configuration = snapshot?.configuration ?? listed.configuration;
  const game = gameOf(configuration?.game);
  const mode = configuration?.mode ?? "MODE_REAL";
  const playing = doing === "playing" && !out;
  const over = useOver(table);
  const unfolding = unfoldingRounds(table);
  const tableId = table.tableId.value;
  const close = () => show(null);
  useEffect(() => {
    if (!playing) show((before) => (before === "leave" ? null : before));
  }, [playing]);
  const complainAboutRound = (round: PlayerRound) => {
    complain(round);
    show("complaint");
  };
  return (
    <div class="table-page">
      <TableBar
        configuration={configuration}
        mode={mode}
        company={table.individual.value ? undefined : snapshot?.seated}
        startedAt={playing ? session?.started_at : undefined}
        held={heldBack.value}
        seated={playing}
        onLookup={(what) => {
          complain(null);
          if (what !== "complaint" || !configuration) show(what);
          else {
            // Most complain of what they have just seen.
            void lastRound(configuration.game, tableId, unfolding)
              .then(complain, () => undefined)
              .then(() => show("complaint"));
          }
        }}
        onLeave={() => show("leave")}
      />
      <main id="main" class="table-room" tabIndex={-1}>
        {out ? (
          <OutOfIt mode={mode} onAgain={onAgain} />
        ) : doing === "refused" && table.refusal.value ? (
          <Refused refusal={table.refusal.value} listed={listed} onAgain={onAgain} />
        ) : game && snapshot ? (
          // What was there to see stays, under the summary and while he sits down again.
          <game.Table key={tableId} table={table} />
        ) : (
          <Skeleton text={tableWords().entering} />
        )}
        {playing && (
          <div class="table-notices">
            <PreviousSession table={table} />
            {session?.state === "SESSION_STATE_ENDING" && <Ending />}
            <InactivityNotice table={table} onEnd={() => void endSession(table)} />
          </div>
        )}
      </main>
      {shown === "rules" && <RulesSheet tableId={listed.table_id} name={said(configuration?.name)} onClose={close} />}
      {shown === "last" && configuration && (
        <LastRoundSheet
          {...{ tableId, unfolding }}
          game={configuration.game}
          onComplain={complainAboutRound}
          onClose={close}
        />
      )}
      {shown === "history" && configuration && (
        <HistorySheet
          {...{ tableId, unfolding }}
          game={configuration.game}
          onComplain={complainAboutRound}
          onClose={close}
        />
      )}
      {shown === "complaint" && (
        <ComplaintSheet
          mode={mode}
          accountId={session?.account_id}
          subjects={subjectsOf(table, complainOf)}
          onClose={close}
        />
      )}
      {shown === "leave" && playing && <LeaveSheet table={table} onClose={close} />}
      {over && !out && shown !== "complaint" && <SessionOver table={table} onComplain={() => show("complaint")} />}
    </div>
  );
}

/** The rounds whose end is not to be told before it is there to see. */
function unfoldingRounds(table: LiveTable): string[] {
  const snapshot = table.snapshot.value;
  const now = snapshot?.phase === "PHASE_SHOWN" ? undefined : snapshot?.round?.round_id;
  // Alone at a table, the next round is open already while the ball of the last one rolls.
  const rolling = heldBack.value ? snapshot?.past[0]?.round_id : undefined;
  return [now, rolling].filter((id) => id !== undefined);
}

/** What he may complain about here: a round that he has chosen, else the last one drawn, and his session. */
function subjectsOf(table: LiveTable, chosen: PlayerRound | null): Subject[] {
  const session = table.session.value;
  const subjects: Subject[] = [];
  if (chosen?.round) {
    const { round_id, opened_at } = chosen.round;
    subjects.push({ kind: "round", id: round_id, label: tableWords().onRound(moment(opened_at)) });
  }
  if (session) {
    const label = tableWords().onSession(moment(session.started_at));
    subjects.push({ kind: "session", id: session.session_id, label });
  }
  return subjects;
}

function Ending() {
  return (
    <section class="inactivity" role="status" data-testid="ending">
      <h2>{tableWords().ending}</h2>
      <p class="quiet">{tableWords().endingHint}</p>
    </section>
  );
}
