// Tables for many as they stand, while the lobby shows them.
import { useEffect, useState } from "preact/hooks";
import type { TableSnapshot } from "../api/messages";
import { watch, who } from "../api/platform";
import { after } from "../table/picture";

type Snapshots = Readonly<Record<string, TableSnapshot>>;

// One connection watches so many tables at most; those further down the page show no live state.
const WATCHED = 12;

export function useLiveTables(ids: readonly string[]): Snapshots {
  const [seen, see] = useState<Snapshots>({});
  const watched = ids.slice(0, WATCHED).join(" ");
  // Whoever logs in gets another connection, on which everything is watched anew.
  const listener = who.value.kind;
  useEffect(() => {
    const ends = watched
      .split(" ")
      .filter(Boolean)
      .map((tableId) =>
        watch(tableId, {
          picture: (table) => see((before) => ({ ...before, [tableId]: table })),
          happened: (event) =>
            see((before) => {
              if (event.table_taken?.snapshot) return { ...before, [tableId]: event.table_taken.snapshot };
              const table = before[tableId];
              return table ? { ...before, [tableId]: after(table, event) } : before;
            }),
          // A card without live state says less, and nothing wrong.
          refused: () => undefined,
        }),
      );
    return () => {
      for (const end of ends) end();
    };
  }, [watched, listener]);
  return seen;
}
