// Checks the connection when the end of a betting window passes without news.
import { computed, effect, type ReadonlySignal } from "@preact/signals";
import type { TableSnapshot } from "../../api/messages";
import { checkConnection } from "../../api/platform";
import { serverNow } from "../../api/server_clock";

// The platform closes betting within moments of the announced end.
const OVERDUE_MS = 1000;

/** The returned function stops checking. */
export function checkOverdueClosing(snapshot: ReadonlySignal<TableSnapshot | null>): () => void {
  const closesAt = computed(() => {
    const table = snapshot.value;
    return table?.phase === "PHASE_BETTING" ? table.round?.closes_at : undefined;
  });
  return effect(() => {
    if (!closesAt.value) return;
    const left_ms = Date.parse(closesAt.value) - serverNow();
    const waiting = setTimeout(checkConnection, Math.max(0, left_ms) + OVERDUE_MS);
    return () => clearTimeout(waiting);
  });
}
