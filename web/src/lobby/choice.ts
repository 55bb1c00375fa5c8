// Which table somebody is led to who only wants to play.
import type { TableSnapshot, TableSummary } from "../api/messages";

// Less is too short for somebody who sees the felt for the first time.
const TIME_TO_BET_MS = 8_000;

/**
 * A demonstration table where he can bet at once. One of his own is best: no clock runs out while he looks for the right
 * place, the ball rolls when he says so, and nothing happens that he has not done himself. Where there is none, one for
 * many that takes bets for long enough yet or opens for him; among those, where most people are.
 */
export function goodTable(
  tables: readonly TableSummary[],
  live: Readonly<Record<string, TableSnapshot>>,
  now: number,
): TableSummary | undefined {
  const open = tables.filter((table) => table.enabled && table.configuration?.mode === "MODE_DEMO");
  const rank = (table: TableSummary): number => {
    if (table.configuration?.play === "PLAY_INDIVIDUAL") return Number.POSITIVE_INFINITY;
    const seen = live[table.table_id];
    const seated = seen?.seated ?? 0;
    const seats = table.configuration?.seats ?? 0;
    if (seated >= seats) return -1;
    return seated + (betsAtOnce(seen, now) ? seats : 0);
  };
  // Of equals the last one: an operator lists his tables as he likes.
  return open.reduce<TableSummary | undefined>(
    (best, table) => (best === undefined || rank(table) >= rank(best) ? table : best),
    undefined,
  );
}

/** A table of which nothing is known yet rests, as far as one can tell. */
function betsAtOnce(seen: TableSnapshot | undefined, now: number): boolean {
  if (seen?.phase !== "PHASE_BETTING") return !seen || seen.phase === "PHASE_RESTING";
  const closes = seen.round?.closes_at;
  return !closes || Date.parse(closes) - now >= TIME_TO_BET_MS;
}
