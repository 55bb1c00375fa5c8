// A window that is over, and nobody says so: then the line is asked whether anybody is there.
import { computed, effect, type ReadonlySignal } from "@preact/signals";
import type { TableSnapshot } from "../api/messages";
import { doubtLine } from "../api/platform";
import { serverNow } from "../api/server_clock";

// «Jogo feito, nada mais» comes within moments of the end.
const OVERDUE_MS = 1000;

/** What is returned ends it. */
export function heedOverdue(snapshot: ReadonlySignal<TableSnapshot | null>): () => void {
  const closesAt = computed(() => {
    const table = snapshot.value;
    return table?.phase === "PHASE_BETTING" ? table.round?.closes_at : undefined;
  });
  return effect(() => {
    if (!closesAt.value) return;
    const left_ms = Date.parse(closesAt.value) - serverNow();
    const waiting = setTimeout(doubtLine, Math.max(0, left_ms) + OVERDUE_MS);
    return () => clearTimeout(waiting);
  });
}
