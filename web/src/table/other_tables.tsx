// Tables that a player could go to instead of one where he cannot sit down.
import type { TableSummary } from "../api/messages";
import { tables } from "../lobby/tables";
import { address } from "../routes";
import { said } from "../words/language";
import { tableWords } from "./words";

const SHOWN = 3;

/** Tables of the same game and mode: those that are played in the same way first. */
function others(listed: TableSummary): TableSummary[] {
  const wanted = listed.configuration;
  const found = (tables.value ?? []).filter(
    ({ enabled, table_id, configuration }) =>
      enabled &&
      table_id !== listed.table_id &&
      configuration?.mode === wanted?.mode &&
      configuration?.game === wanted?.game,
  );
  const like = (table: TableSummary) => Number(table.configuration?.play === wanted?.play);
  return found.sort((one, other) => like(other) - like(one)).slice(0, SHOWN);
}

/** The demonstration table that is most like a table for money. */
export function demoOf(listed: TableSummary): TableSummary | undefined {
  const wanted = listed.configuration;
  const demos = (tables.value ?? []).filter(
    ({ enabled, configuration }) =>
      enabled && configuration?.mode === "MODE_DEMO" && configuration.game === wanted?.game,
  );
  const like = ({ configuration }: TableSummary) =>
    2 * Number(JSON.stringify(configuration?.rules) === JSON.stringify(wanted?.rules)) +
    Number(configuration?.play === wanted?.play);
  return demos.sort((one, other) => like(other) - like(one))[0];
}

export function OtherTables({ listed }: { listed: TableSummary }) {
  const found = others(listed);
  if (found.length === 0) return null;
  return (
    <div class="ways-others">
      <h2>{tableWords().otherTables}</h2>
      {found.map((table) => (
        <a key={table.table_id} class="button" href={address({ page: "table", tableId: table.table_id })}>
          {said(table.configuration?.name)}
        </a>
      ))}
    </div>
  );
}
