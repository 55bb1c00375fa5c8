// The player's running sessions, last session, and unfinished rounds.
import { useEffect, useState } from "preact/hooks";
import type { Mode, PlayerRound, Result, Session, SessionSummary } from "../api/messages";
import { call, identity, onFact, onResync, readBalance } from "../api/platform";
import { gameIds } from "../game_interface/registered_games";
import { type Cents, cents } from "../words/money";

/** A round that has not ended and holds a stake of the player's. */
export interface UnfinishedRound {
  roundId: string;
  tableId: string;
  staked: Cents;
  mode: Mode;
}

export interface PlayerOverview {
  /** It has been read, or nobody plays. */
  known: boolean;
  running: readonly Session[];
  last: { session: Session; summary: SessionSummary | undefined } | null;
  unfinished: readonly UnfinishedRound[];
}

const EMPTY_OVERVIEW: PlayerOverview = { known: true, running: [], last: null, unfinished: [] };
// The lobby waits for it so long, to show everything at once.
const WAITED_FOR_MS = 1500;
// Nobody sits at more tables at a time.
const TABLES_ASKED = 6;

/** Combines rounds that the journal calls incomplete with those that still take bets and hold the player's. */
export function unfinishedRounds(
  rounds: readonly PlayerRound[],
  tables: readonly { session: Session; answer: Result<"TableService.GetTable"> | null }[],
): UnfinishedRound[] {
  const found = new Map<string, UnfinishedRound>();
  for (const { round, table_id, staked_cents, mode } of rounds) {
    if (!round) continue;
    found.set(round.round_id, { roundId: round.round_id, tableId: table_id, staked: cents(staked_cents), mode });
  }
  for (const { session, answer } of tables) {
    const roundId = answer?.table?.round?.round_id;
    const staked = answer?.own_seat?.stakes.reduce((sum, stake) => sum + cents(stake.amount_cents), 0) ?? 0;
    const over = answer?.table?.phase === "PHASE_RESULT_SHOWN" || answer?.table?.phase === "PHASE_IDLE";
    if (!roundId || !staked || over || found.has(roundId)) continue;
    found.set(roundId, { roundId, tableId: session.table_id, staked, mode: session.mode });
  }
  return [...found.values()];
}

async function readPlayerOverview(playerId: string): Promise<PlayerOverview> {
  const [{ sessions }, ...pages] = await Promise.all([
    call("SessionService.ListSessions", { player_id: playerId, page_size: 20 }),
    ...gameIds().map((game) =>
      // A game that does not answer is left out.
      call("TableService.ListPlayerRounds", { game, player_id: playerId, open_only: true, page_size: 5 }).catch(() => ({
        rounds: [],
      })),
    ),
  ]);
  const running = sessions.filter((session) => session.state !== "SESSION_STATE_ENDED");
  const ended = sessions.find((session) => session.state === "SESSION_STATE_ENDED");
  const [last, tables] = await Promise.all([
    ended ? call("SessionService.GetSession", { session_id: ended.session_id }) : null,
    Promise.all(
      running.slice(0, TABLES_ASKED).map(async (session) => ({
        session,
        // A table that does not answer is left out.
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

const ENDS_ROUND: ReadonlySet<string> = new Set([
  "TRANSFER_KIND_ROUND_SETTLED",
  "TRANSFER_KIND_ROUND_VOID",
  // It may have paid the player's last stake in the round.
  "TRANSFER_KIND_STAKES_PAID",
]);

/** Updated whenever something of it changes; empty while nobody plays. */
export function usePlayerOverview(): PlayerOverview {
  const player = identity.value;
  const playerId = player.kind === "nobody" ? "" : player.playerId;
  const [overview, setOverview] = useState<PlayerOverview>({ ...EMPTY_OVERVIEW, known: !playerId });
  useEffect(() => {
    setOverview({ ...EMPTY_OVERVIEW, known: !playerId });
    if (!playerId) return;
    let mounted = true;
    // The lobby shows the tables even if this cannot be read.
    const showWithout = () => mounted && setOverview((before) => ({ ...before, known: true }));
    const read = () => void readPlayerOverview(playerId).then((found) => mounted && setOverview(found), showWithout);
    read();
    const waiting = setTimeout(showWithout, WAITED_FOR_MS);
    void readBalance("MODE_DEMO").catch(() => undefined);
    const unsubscribers = [
      onResync(read),
      onFact((fact) => {
        if (fact.session_started || fact.session_ended) read();
        // An unfinished round may have ended.
        if (fact.balance_changed?.transactions.some(({ kind }) => ENDS_ROUND.has(kind))) read();
      }),
    ];
    return () => {
      mounted = false;
      clearTimeout(waiting);
      for (const end of unsubscribers) end();
    };
  }, [playerId]);
  return overview;
}
