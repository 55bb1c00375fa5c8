// The live state of tables for many, while the lobby shows them.
import { useEffect, useState } from "preact/hooks";
import type { TableSnapshot } from "../api/messages";
import { identity, watch } from "../api/platform";
import { applyEvent } from "../table/live/apply_event";

type Snapshots = Readonly<Record<string, TableSnapshot>>;

// The platform's limit of subscriptions per connection; tables further down the page show no live state.
const WATCHED = 12;

export function useLiveTables(ids: readonly string[]): Snapshots {
  const [seen, setSeen] = useState<Snapshots>({});
  const watched = ids.slice(0, WATCHED).join(" ");
  // Logging in opens another connection, on which the tables are subscribed again.
  const listener = identity.value.kind;
  useEffect(() => {
    const ends = watched
      .split(" ")
      .filter(Boolean)
      .map((tableId) =>
        watch(tableId, {
          snapshot: (table) => setSeen((before) => ({ ...before, [tableId]: table })),
          event: (event) =>
            setSeen((before) => {
              if (event.snapshot_published?.snapshot)
                return { ...before, [tableId]: event.snapshot_published.snapshot };
              const table = before[tableId];
              return table ? { ...before, [tableId]: applyEvent(table, event) } : before;
            }),
          // A card without live state shows less, and nothing wrong.
          refused: () => undefined,
        }),
      );
    return () => {
      for (const end of ends) end();
    };
  }, [watched, listener]);
  return seen;
}
