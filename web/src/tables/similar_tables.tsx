// Tables to offer where the player cannot sit down.
import type { TableSummary } from "../api/messages";
import { addressOf } from "../browser/routes";
import { dictionary, inLanguage } from "../words/language";
import { listedTables } from "./tables";

const similarTablesWords = dictionary(
  {
    otherTables: "Outras mesas com lugar",
  },
  {
    otherTables: "Other tables with seats",
  },
);

const SHOWN = 3;

/** Tables of the same game and mode, those with the same kind of play first. */
function similarTables(listed: TableSummary): TableSummary[] {
  const wanted = listed.configuration;
  const found = (listedTables.value ?? []).filter(
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
export function demonstrationOf(listed: TableSummary): TableSummary | undefined {
  const wanted = listed.configuration;
  const demos = (listedTables.value ?? []).filter(
    ({ enabled, configuration }) =>
      enabled && configuration?.mode === "MODE_DEMO" && configuration.game === wanted?.game,
  );
  const like = ({ configuration }: TableSummary) =>
    2 * Number(JSON.stringify(configuration?.rules) === JSON.stringify(wanted?.rules)) +
    Number(configuration?.play === wanted?.play);
  return demos.sort((one, other) => like(other) - like(one))[0];
}

export function SimilarTables({ listed }: { listed: TableSummary }) {
  const found = similarTables(listed);
  if (found.length === 0) return null;
  return (
    <div class="ways-others">
      <h2>{similarTablesWords().otherTables}</h2>
      {found.map((table) => (
        <a key={table.table_id} class="button" href={addressOf({ page: "table", tableId: table.table_id })}>
          {inLanguage(table.configuration?.name)}
        </a>
      ))}
    </div>
  );
}
