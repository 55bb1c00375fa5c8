// A table's page: finds the table, and lets the player sit down if that is possible.
import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { TableSummary } from "../../api/messages";
import { identity, loginEndedReason } from "../../api/platform";
import { RulesSheet } from "../../rules/rules_sheet";
import { listedId, listedTable, listedTables } from "../../tables/tables";
import { useTables } from "../../tables/use_tables";
import { inLanguage } from "../../words/language";
import { LiveTable } from "../live/live_table";
import { windowTables } from "../tabs/window_tables";
import { AppointedPage } from "./appointed_page";
import { LoginEndedPage, MoneyTablePage, UnknownTablePage } from "./no_seat_pages";
import { SeatedPage } from "./seated_page";
import { TableBar } from "./table_bar";
import { WaitingPage } from "./waiting_page";
import { tableWords } from "./words";
import "./table_page.css";

export function TablePage({ tableId }: { tableId: string }) {
  const listed = listedTable(tableId);
  const known = listedTables.value !== null;
  const { failed, read } = useTables();
  const name = inLanguage(listed?.configuration?.name) || tableWords().table;
  useEffect(() => {
    document.title = `${name} · Feltro`;
  }, [name]);
  if (!known) return <WaitingPage onAgain={failed ? read : undefined} />;
  if (!listed) return <AppointedPage key={tableId} tableId={tableId} unknown={<NoSeatPage listed={undefined} />} />;
  const forMoney = listed.configuration?.mode !== "MODE_DEMO";
  if (forMoney && identity.value.kind !== "player") return <NoSeatPage listed={listed} />;
  return <JoinedTable key={listedId(tableId)} listed={listed} />;
}

/** The bar and page of a player who cannot sit here. */
function NoSeatPage({ listed }: { listed: TableSummary | undefined }) {
  const [rules, setRules] = useState(false);
  return (
    <div class="table-page">
      <TableBar
        configuration={listed?.configuration}
        mode="MODE_REAL"
        startedAt={undefined}
        resultPending={false}
        seated={false}
        onTool={() => setRules(true)}
        onLeave={() => undefined}
      />
      <main id="main" tabIndex={-1}>
        {!listed ? (
          <UnknownTablePage />
        ) : loginEndedReason.value ? (
          <LoginEndedPage mode="MODE_REAL" />
        ) : (
          <MoneyTablePage listed={listed} />
        )}
      </main>
      {rules && listed && (
        <RulesSheet
          tableId={listed.table_id}
          name={inLanguage(listed.configuration?.name)}
          onClose={() => setRules(false)}
        />
      )}
    </div>
  );
}

function JoinedTable({ listed }: { listed: TableSummary }) {
  const [table, setTable] = useState<LiveTable | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [loginEnded, setLoginEnded] = useState(false);
  const demonstration = listed.configuration?.mode === "MODE_DEMO";
  const shared = listed.configuration !== undefined && listed.configuration.play !== "PLAY_INDIVIDUAL";
  useEffect(() => {
    const live = new LiveTable(listed.table_id, demonstration, shared);
    setTable(live);
    setLoginEnded(false);
    return () => live.close();
  }, [listed.table_id, demonstration, shared, attempt]);
  useEffect(() => windowTables.show(listed.table_id), [listed.table_id]);
  useEffect(() => (table ? keepTab(table) : undefined), [table]);
  const kind = identity.value.kind;
  const wasLoggedIn = useRef(false);
  useEffect(() => {
    if (kind !== "nobody") wasLoggedIn.current = true;
    else if (wasLoggedIn.current) {
      // The login has ended, and with it the connection that followed the table.
      wasLoggedIn.current = false;
      table?.close();
      setLoginEnded(true);
    }
  }, [kind, table]);
  if (!table) return <WaitingPage />;
  return <SeatedPage table={table} listed={listed} loginEnded={loginEnded} onAgain={() => setAttempt(attempt + 1)} />;
}

/** The table has a tab as long as the player sits there, whatever page is shown. */
function keepTab(table: LiveTable): () => void {
  const closed = signal(false);
  const end = effect(() => {
    const [state, tableId, seat] = [table.state.value, table.tableId.value, table.ownSeat.value?.seat];
    const sessionId = table.session.value?.session_id;
    if (state === "playing" && sessionId) windowTables.opened({ listedId: table.listedId, tableId, sessionId, seat });
    else if (state === "left" || state === "refused") windowTables.left(table.listedId);
    // The tab is made even if the page closes while the player is sitting down.
    if (closed.value && state !== "entering") queueMicrotask(() => end());
  });
  return () => {
    closed.value = true;
  };
}
