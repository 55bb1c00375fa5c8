// Which demonstration table the lobby's main button leads to.
import type { TableSnapshot, TableSummary } from "../api/messages";

// Enough for a player who sees the felt for the first time.
const TIME_TO_BET_MS = 8_000;

/**
 * A demonstration table that takes bets at once. An individual table is best: no clock runs out while the player looks
 * around, and every round starts on the player's word. Otherwise a table for many that still takes bets for long enough
 * or opens when the player sits down, and among those the one with most players.
 */
export function recommendedTable(
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
    return seated + (takesBetsNow(seen, now) ? seats : 0);
  };
  // Of equals a table of the first game, and there the last one: the order is the operator's.
  return open.reduce<TableSummary | undefined>((best, table) => {
    if (best === undefined || rank(table) > rank(best)) return table;
    return rank(table) === rank(best) && table.configuration?.game === best.configuration?.game ? table : best;
  }, undefined);
}

/** A table of which nothing is known yet counts as resting. */
function takesBetsNow(seen: TableSnapshot | undefined, now: number): boolean {
  if (seen?.phase !== "PHASE_BETTING") return !seen || seen.phase === "PHASE_IDLE";
  const closes = seen.round?.closes_at;
  return !closes || Date.parse(closes) - now >= TIME_TO_BET_MS;
}
