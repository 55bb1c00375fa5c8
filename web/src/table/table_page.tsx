// A table's page: which table it is, and whether one may sit down at it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { TableSummary } from "../api/messages";
import { shutOut, who } from "../api/platform";
import { listedId, listedTable, tables } from "../lobby/tables";
import { useTables } from "../lobby/use_tables";
import { said } from "../words/language";
import { LiveTable } from "./live_table";
import { RulesSheet } from "./rules";
import { Seated } from "./seated";
import { TableBar } from "./table_bar";
import { Waiting } from "./waiting";
import { ForMoney, OutOfIt, UnknownTable } from "./ways_on";
import { tableWords } from "./words";
import "./table_page.css";

export function TablePage({ tableId }: { tableId: string }) {
  const listed = listedTable(tableId);
  const known = tables.value !== null;
  const { failed, read } = useTables();
  const name = said(listed?.configuration?.name) || tableWords().table;
  useEffect(() => {
    document.title = `${name} · Feltro`;
  }, [name]);
  if (!known) return <Waiting onAgain={failed ? read : undefined} />;
  if (!listed) return <Unseated listed={undefined} />;
  const forMoney = listed.configuration?.mode !== "MODE_DEMO";
  if (forMoney && who.value.kind !== "player") return <Unseated listed={listed} />;
  return <Seat key={listedId(tableId)} listed={listed} />;
}

/** The bar and the page of one who does not sit here. */
function Unseated({ listed }: { listed: TableSummary | undefined }) {
  const [rules, showRules] = useState(false);
  return (
    <div class="table-page">
      <TableBar
        configuration={listed?.configuration}
        mode="MODE_REAL"
        startedAt={undefined}
        held={false}
        seated={false}
        onLookup={() => showRules(true)}
        onLeave={() => undefined}
      />
      <main id="main" tabIndex={-1}>
        {!listed ? <UnknownTable /> : shutOut.value ? <OutOfIt mode="MODE_REAL" /> : <ForMoney listed={listed} />}
      </main>
      {rules && listed && (
        <RulesSheet
          tableId={listed.table_id}
          name={said(listed.configuration?.name)}
          onClose={() => showRules(false)}
        />
      )}
    </div>
  );
}

function Seat({ listed }: { listed: TableSummary }) {
  const [table, setTable] = useState<LiveTable | null>(null);
  const [times, again] = useState(0);
  const [out, setOut] = useState(false);
  const wantsCredits = listed.configuration?.mode === "MODE_DEMO";
  useEffect(() => {
    const live = new LiveTable(listed.table_id, wantsCredits);
    setTable(live);
    setOut(false);
    return () => live.close();
  }, [listed.table_id, wantsCredits, times]);
  const kind = who.value.kind;
  const somebody = useRef(false);
  useEffect(() => {
    if (kind !== "nobody") somebody.current = true;
    else if (somebody.current) {
      // His token opens nothing any more, and the line that the table was heard on is gone.
      somebody.current = false;
      table?.close();
      setOut(true);
    }
  }, [kind, table]);
  if (!table) return <Waiting />;
  return <Seated table={table} listed={listed} out={out} onAgain={() => again(times + 1)} />;
}
