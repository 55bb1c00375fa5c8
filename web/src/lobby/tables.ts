// The tables that there are, of every game, as the lobby lists them.
import { signal } from "@preact/signals";
import type { TableSummary } from "../api/messages";
import { call } from "../api/platform";
import { heardAt } from "../api/server_clock";
import { GAMES } from "../games";

/** Null until they are known. */
export const tables = signal<readonly TableSummary[] | null>(null);

export async function readTables(): Promise<void> {
  const found = await Promise.all(Object.keys(GAMES).map((game) => call("TableService.ListTables", { game })));
  for (const { at } of found) heardAt(at);
  tables.value = found.flatMap((one) => one.tables);
}

// What a player's own table at an individual table is called: the listed one's name and sixteen digits.
const OWN = /-[0-9a-f]{16}$/;

/** The listed table that a table belongs to: itself, unless it is one player's own. */
export function listedId(tableId: string): string {
  if (tables.value?.some((table) => table.table_id === tableId)) return tableId;
  return tableId.replace(OWN, "");
}

export function listedTable(tableId: string): TableSummary | undefined {
  const listed = listedId(tableId);
  return tables.value?.find((table) => table.table_id === listed);
}
