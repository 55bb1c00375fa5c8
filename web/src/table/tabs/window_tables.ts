// The tables of this window, which every table's page shows.
import { effect } from "@preact/signals";
import { identity, onFact, watch } from "../../api/platform";
import { notify } from "../../design/overlays/toast";
import { listedTable } from "../../tables/tables";
import { inLanguage } from "../../words/language";
import { OpenTables } from "./open_tables";
import { tabWords } from "./words";

export const windowTables = new OpenTables({
  watch,
  onFact,
  ended: ({ listedId }) => notify(tabWords().ended(tableName(listedId))),
});

// Tables belong to whoever sits at them.
effect(() => {
  const player = identity.value;
  return player.kind === "nobody" ? undefined : () => windowTables.forget();
});

/** The table's name in the player's language. */
export function tableName(listedId: string): string {
  return inLanguage(listedTable(listedId)?.configuration?.name) || listedId;
}
