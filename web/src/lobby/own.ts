// What is the player's own: sessions that run, the last one, and rounds that are not finished.
import { useEffect, useState } from "preact/hooks";
import type { Mode, PlayerRound, Result, Session, SessionSummary } from "../api/messages";
import { call, onAfresh, onFact, readBalance, who } from "../api/platform";
import { GAMES } from "../games";
import { type Cents, cents } from "../words/money";

/** A round in which he has a stake, and which has not ended. */
export interface Unfinished {
  roundId: string;
  tableId: string;
  staked: Cents;
  mode: Mode;
}

export interface Own {
  /** There is nothing to wait for: it was read, or nobody plays. */
  known: boolean;
  running: readonly Session[];
  last: { session: Session; summary: SessionSummary | undefined } | null;
  unfinished: readonly Unfinished[];
}

const NOTHING: Own = { known: true, running: [], last: null, unfinished: [] };
// The lobby waits for it, to show everything at once, and does without it where it takes longer.
const WAITED_FOR_MS = 1500;
// Nobody sits at more tables than he can see.
const TABLES_ASKED = 6;

/** Rounds that the journal calls incomplete, and those that still take bets and hold his. */
export function unfinishedRounds(
  rounds: readonly PlayerRound[],
  tables: readonly { session: Session; answer: Result<"TableService.GetTable"> | null }[],
): Unfinished[] {
  const found = new Map<string, Unfinished>();
  for (const { round, table_id, staked_cents, mode } of rounds) {
    if (!round) continue;
    found.set(round.round_id, { roundId: round.round_id, tableId: table_id, staked: cents(staked_cents), mode });
  }
  for (const { session, answer } of tables) {
    const roundId = answer?.table?.round?.round_id;
    const staked = answer?.own?.stakes.reduce((sum, stake) => sum + cents(stake.amount_cents), 0) ?? 0;
    const over = answer?.table?.phase === "PHASE_SHOWN" || answer?.table?.phase === "PHASE_RESTING";
    if (!roundId || !staked || over || found.has(roundId)) continue;
    found.set(roundId, { roundId, tableId: session.table_id, staked, mode: session.mode });
  }
  return [...found.values()];
}

async function readOwn(playerId: string): Promise<Own> {
  const [{ sessions }, ...pages] = await Promise.all([
    call("SessionService.ListSessions", { player_id: playerId, page_size: 20 }),
    ...Object.keys(GAMES).map((game) =>
      call("TableService.ListPlayerRounds", { game, player_id: playerId, incomplete_only: true, page_size: 5 }),
    ),
  ]);
  const running = sessions.filter((session) => session.state !== "SESSION_STATE_ENDED");
  const ended = sessions.find((session) => session.state === "SESSION_STATE_ENDED");
  const [last, tables] = await Promise.all([
    ended ? call("SessionService.GetSession", { session_id: ended.session_id }) : null,
    Promise.all(
      running.slice(0, TABLES_ASKED).map(async (session) => ({
        session,
        // A table that does not answer now says nothing of him.
        answer: await call("TableService.GetTable", { table_id: session.table_id }).catch(() => null),
      })),
    ),
  ]);
  return {
    known: true,
    running,
    last: last?.session ? { session: last.session, summary: last.summary } : null,
    unfinished: unfinishedRounds(
      pages.flatMap((page) => page.rounds),
      tables,
    ),
  };
}

const ENDS_ROUND: ReadonlySet<string> = new Set(["TRANSFER_KIND_ROUND_SETTLED", "TRANSFER_KIND_ROUND_VOID"]);

/** Told anew whenever something of it changes; nothing while nobody plays. */
export function useOwn(): Own {
  const player = who.value;
  const playerId = player.kind === "nobody" ? "" : player.playerId;
  const [own, tell] = useState<Own>({ ...NOTHING, known: !playerId });
  useEffect(() => {
    tell({ ...NOTHING, known: !playerId });
    if (!playerId) return;
    let wanted = true;
    // What cannot be read is not shown; the tables are there all the same.
    const goOnWithout = () => wanted && tell((before) => ({ ...before, known: true }));
    const read = () => void readOwn(playerId).then((found) => wanted && tell(found), goOnWithout);
    read();
    const waiting = setTimeout(goOnWithout, WAITED_FOR_MS);
    void readBalance("MODE_DEMO").catch(() => undefined);
    const ends = [
      onAfresh(read),
      onFact((fact) => {
        if (fact.session_started || fact.session_ended) read();
        // A round that was not finished may be, now.
        if (fact.balance_changed?.transactions.some(({ kind }) => ENDS_ROUND.has(kind))) read();
      }),
    ];
    return () => {
      wanted = false;
      clearTimeout(waiting);
      for (const end of ends) end();
    };
  }, [playerId]);
  return own;
}
