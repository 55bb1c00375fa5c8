// All tables of every game, as the platform lists them.
import { signal } from "@preact/signals";
import type { TableSummary } from "../api/messages";
import { call } from "../api/platform";
import { CallAbandoned } from "../api/refusal";
import { observeServerTime } from "../api/server_clock";
import { gameIds } from "../game_interface/registered_games";

// The most that the platform sends at once.
const PAGE = 500;

/** Null until they have been read. */
export const listedTables = signal<readonly TableSummary[] | null>(null);

/** Reads the tables of every game; of one that does not answer those stay that were known: the player may sit there. */
export async function readTables(): Promise<void> {
  const games = gameIds();
  const read = await Promise.allSettled(games.map(tablesOf));
  const failures = read.filter((each) => each.status === "rejected").map((each) => each.reason);
  // Another connection reads the list anew: a part of it would hide the tables of the other games.
  const abandoned = failures.find((each) => each instanceof CallAbandoned);
  if (abandoned || failures.length === games.length) throw abandoned ?? failures[0];
  const known = listedTables.value ?? [];
  listedTables.value = read.flatMap((each, at) =>
    each.status === "fulfilled" ? each.value : known.filter(({ configuration }) => configuration?.game === games[at]),
  );
}

async function tablesOf(game: string): Promise<TableSummary[]> {
  const tables: TableSummary[] = [];
  let page_token = "";
  do {
    const page = await call("TableService.ListTables", { game, page_size: PAGE, ...(page_token && { page_token }) });
    observeServerTime(page.at);
    tables.push(...page.tables);
    page_token = page.next_page_token;
  } while (page_token);
  return tables;
}

// The id of a player's individual table: the listed table's id and sixteen hexadecimal digits.
const INDIVIDUAL_SUFFIX = /-[0-9a-f]{16}$/;

/** The id of the listed table that a table belongs to: its own, unless it is one player's individual table. */
export function listedId(tableId: string): string {
  if (listedTables.value?.some((table) => table.table_id === tableId)) return tableId;
  return tableId.replace(INDIVIDUAL_SUFFIX, "");
}

export function listedTable(tableId: string): TableSummary | undefined {
  const listed = listedId(tableId);
  return listedTables.value?.find((table) => table.table_id === listed);
}
