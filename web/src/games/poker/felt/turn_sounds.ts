// Sounds the beginning of the player's own turn, and its last seconds.
import { computed, effect } from "@preact/signals";
import { serverNow } from "../../../api/server_clock";
import { playSound } from "../../../sound/sound";
import { chime } from "../../../sound/synthesis";
import type { LiveTable } from "../../../table/live/live_table";
import { lastSecondSound } from "../../../tray/call_sounds";

const LAST_S = 5;

/** The returned function stops it. */
export function soundOwnTurn(table: LiveTable): () => void {
  const turn = computed(() => (table.own.asked.value && !table.dealing.value ? table.turn.value : null));
  const number = computed(() => turn.value?.turn ?? 0);
  const decideBy = computed(() => (turn.value?.paused_since ? undefined : turn.value?.decide_by));
  const begun = effect(() => {
    if (!number.value) return;
    playSound((speaker, at) => {
      chime(speaker, 523.3, at, 0.4, 0.12);
      chime(speaker, 784, at + 0.13, 0.5, 0.12);
    });
  });
  const ending = effect(() => {
    if (!decideBy.value) return;
    const left_ms = Date.parse(decideBy.value) - serverNow();
    const timers = Array.from({ length: LAST_S }, (_, second) => left_ms - (second + 1) * 1000)
      .filter((wait_ms) => wait_ms > 0)
      .map((wait_ms) => setTimeout(lastSecondSound, wait_ms));
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  });
  return () => {
    begun();
    ending();
  };
}
