// Reads the roads of a table: at first, and after each round, once its cards lie on the table.
import { useEffect, useState } from "preact/hooks";
import { call } from "../../../api/platform";
import type { Felt } from "../felt/felt";
import type { Roads } from "../layout/messages";

/** Null until they have been read. A round whose cards are still being dealt is in none of them. */
export function useRoads(felt: Felt): Roads | null {
  const [roads, setRoads] = useState<Roads | null>(null);
  const newest = felt.sequence.visiblePast.value[0]?.round_id ?? "";
  const dealing = felt.sequence.stage.value === "dealing";
  useEffect(() => {
    if (dealing) return;
    let mounted = true;
    call("BaccaratService.GetRoads", { table_id: felt.table.tableId.value }).then(
      // Roads that could not be read stay as they were.
      (found) => mounted && felt.sequence.stage.peek() !== "dealing" && setRoads(found),
      () => undefined,
    );
    return () => {
      mounted = false;
    };
  }, [newest, dealing]);
  return roads;
}
