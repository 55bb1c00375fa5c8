// Which table somebody is led to who only wants to play.
import type { TableSnapshot, TableSummary } from "../api/messages";

/** A demonstration table with people at it; where nobody plays, one where he need not wait for anything. */
export function goodTable(
  tables: readonly TableSummary[],
  live: Readonly<Record<string, TableSnapshot>>,
): TableSummary | undefined {
  const open = tables.filter((table) => table.enabled && table.configuration?.mode === "MODE_DEMO");
  const rank = (table: TableSummary): number => {
    const seated = live[table.table_id]?.seated ?? 0;
    const room = seated < (table.configuration?.seats ?? 0);
    if (table.configuration?.play === "PLAY_INDIVIDUAL") return 0;
    return seated > 0 && room ? seated : -1;
  };
  // Of equals the last one: an operator lists his tables as he likes.
  return open.reduce<TableSummary | undefined>(
    (best, table) => (best === undefined || rank(table) >= rank(best) ? table : best),
    undefined,
  );
}
