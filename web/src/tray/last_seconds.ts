// Sounds the last seconds of betting, by the platform's time.
import { computed, effect } from "@preact/signals";
import { serverNow } from "../api/server_clock";
import type { LiveTable } from "../table/live/live_table";
import { lastSecondSound } from "./call_sounds";

const LAST_S = 5;

/** The returned function stops it. */
export function soundLastSeconds(table: LiveTable): () => void {
  const closesAt = computed(() => {
    const snapshot = table.snapshot.value;
    return snapshot?.phase === "PHASE_BETTING" && table.state.value === "playing"
      ? snapshot.round?.closes_at
      : undefined;
  });
  return effect(() => {
    if (!closesAt.value) return;
    const left_ms = Date.parse(closesAt.value) - serverNow();
    const timers = Array.from({ length: LAST_S }, (_, second) => left_ms - (second + 1) * 1000)
      .filter((wait_ms) => wait_ms > 0)
      .map((wait_ms) => setTimeout(lastSecondSound, wait_ms));
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  });
}
