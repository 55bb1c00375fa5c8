// The last seconds in which bets are taken are heard, by the server's clock.
import { computed, effect } from "@preact/signals";
import { serverNow } from "../../api/server_clock";
import type { LiveTable } from "../../table/live_table";
import { timeRunsOut } from "./sounds";

const LAST_S = 5;

/** What is returned ends it. */
export function hearLastSeconds(table: LiveTable): () => void {
  const closesAt = computed(() => {
    const snapshot = table.snapshot.value;
    return snapshot?.phase === "PHASE_BETTING" && table.doing.value === "playing"
      ? snapshot.round?.closes_at
      : undefined;
  });
  return effect(() => {
    if (!closesAt.value) return;
    const left_ms = Date.parse(closesAt.value) - serverNow();
    const timers = Array.from({ length: LAST_S }, (_, second) => left_ms - (second + 1) * 1000)
      .filter((wait_ms) => wait_ms > 0)
      .map((wait_ms) => setTimeout(timeRunsOut, wait_ms));
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  });
}
