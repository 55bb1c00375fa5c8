// Sounds the beginning of the player's own turn, and its last seconds.
import { computed, effect } from "@preact/signals";
import { serverNow } from "../../../api/server_clock";
import { playSound } from "../../../sound/sound";
import { chime } from "../../../sound/synthesis";
import type { LiveTable } from "../../../table/live/live_table";
import { lastSecondSound } from "../../../tray/call_sounds";
import type { Decisions } from "./decisions";

const LAST_S = 5;

/** The returned function stops it. */
export function soundOwnTurn(decisions: Decisions, table: LiveTable): () => void {
  const asked = computed(() => decisions.question.value?.key ?? null);
  const decideBy = computed(() => (table.individual.value ? undefined : table.turn.value?.decide_by));
  return effect(() => {
    if (!asked.value) return;
    playSound((speaker, at) => {
      chime(speaker, 523.3, at, 0.4, 0.12);
      chime(speaker, 784, at + 0.13, 0.5, 0.12);
    });
    if (!decideBy.value) return;
    const left_ms = Date.parse(decideBy.value) - serverNow();
    const timers = Array.from({ length: LAST_S }, (_, second) => left_ms - (second + 1) * 1000)
      .filter((wait_ms) => wait_ms > 0)
      .map((wait_ms) => setTimeout(lastSecondSound, wait_ms));
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  });
}
