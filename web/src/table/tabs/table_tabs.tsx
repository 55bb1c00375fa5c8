// The tabs of a player who sits at several tables. Each is a page with its own address; which call for the player is marked, and
// announced to screen readers.
import { addressOf } from "../../browser/routes";
import type { OpenTable } from "./open_tables";
import { tableName, windowTables } from "./window_tables";
import { tabWords } from "./words";
import "./table_tabs.css";

/** Nothing for a player at one table: there is nothing to choose. */
export function TableTabs({ shown }: { shown: string }) {
  const tables = windowTables.all.value;
  if (!tables.some(({ listedId }) => listedId !== shown)) return null;
  const words = tabWords();
  return (
    <nav class="table-tabs" aria-label={words.tables} data-testid="table-tabs">
      <ul>
        {tables.map((table) => (
          <li key={table.listedId}>
            <TableTab table={table} shown={table.listedId === shown} />
          </li>
        ))}
        <li>
          <a class="table-tab table-tab-more" href={addressOf({ page: "lobby" })}>
            <span aria-hidden="true">+</span>
            <span class="unseen">{words.more}</span>
          </a>
        </li>
      </ul>
      <p class="unseen" role="status" data-testid="tabs-said">
        {said(tables)}
      </p>
    </nav>
  );
}

function TableTab({ table: { listedId, call }, shown }: { table: OpenTable; shown: boolean }) {
  const words = tabWords();
  const name = tableName(listedId);
  return (
    <a
      class={call ? `table-tab table-tab-${call}` : "table-tab"}
      href={addressOf({ page: "table", tableId: listedId })}
      aria-current={shown ? "page" : undefined}
      title={name}
      data-testid="table-tab"
      data-table={listedId}
      data-call={call ?? ""}
    >
      <span class="table-tab-name">{name}</span>
      {call && <strong class="table-tab-call">{call === "turn" ? words.turn : words.notice}</strong>}
    </a>
  );
}

function said(tables: readonly OpenTable[]): string {
  const words = tabWords();
  const names = (call: OpenTable["call"]) =>
    tables.filter((table) => table.call === call).map(({ listedId }) => tableName(listedId));
  const [turns, notices] = [names("turn"), names("notice")];
  return [turns.length && words.turnAt(turns.join(", ")), notices.length && words.noticeAt(notices.join(", "))]
    .filter(Boolean)
    .join(". ");
}
