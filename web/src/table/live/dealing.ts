// Whether cards are still being dealt on the screen: until the platform's `shown_at`, nothing may reveal what they decide.
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import type { PastOutcome, TableSnapshot } from "../../api/messages";
import { serverNow } from "../../api/server_clock";

export class DealingClock {
  readonly dealing = signal(false);
  private until_ms = 0;

  /** The returned function stops it. */
  follow(snapshot: ReadonlySignal<TableSnapshot | null>): () => void {
    return effect(() => {
      const shown_ms = shownAt_ms(snapshot.value);
      // The next round may open while the last cards are dealt: their time still counts.
      this.until_ms = Math.max(this.until_ms, shown_ms);
      const left_ms = this.until_ms - serverNow();
      this.dealing.value = left_ms > 0;
      if (left_ms <= 0) return;
      const timer = setTimeout(() => {
        this.dealing.value = false;
      }, left_ms);
      return () => clearTimeout(timer);
    });
  }
}

/** When the cards that were dealt last lie on the table; 0 if nothing is said of it. */
export function shownAt_ms(table: TableSnapshot | null): number {
  const at = table?.round?.shown_at;
  return at ? Date.parse(at) : 0;
}

/** The latest outcomes without the one whose cards are still being dealt. */
export function shownOutcomes(table: TableSnapshot, now: number): readonly PastOutcome[] {
  const [newest, ...earlier] = table.past_outcomes;
  const isDealt = newest?.round_id === table.round?.round_id && shownAt_ms(table) > now;
  return isDealt ? earlier : table.past_outcomes;
}
