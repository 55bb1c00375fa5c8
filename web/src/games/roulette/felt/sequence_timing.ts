// How long each stage of the outcome sequence takes at a table.
import type { TableConfiguration } from "../../../api/messages";

// At an individual table that shows results for no set time, since the next round waits for the player.
const ALONE_MS = 5200;
const STILL_MS = 700;
const LONGEST_MS = 9000;
// The time that the ball leaves to the result; it takes between a half and most of the whole.
const RESULT_MS = 4000;
// Marking and collecting speed up where the result has less time than this.
const UNHURRIED_MS = 2000;
const MARKED_MS = 550;
const COLLECTED_MS = 600;
// How long a result stays readable at least, and never less than the table shows its results.
const READ_MS = 6000;

export interface Timing {
  rolls_ms: number;
  marked_ms: number;
  collected_ms: number;
  /** From the payment on, into the next betting window if necessary. */
  read_ms: number;
}

/** How long the ball rolls, of the time between the outcome and the next round. */
export function rolling_ms(shown_ms: number, individual: boolean, still: boolean): number {
  const most =
    individual && shown_ms === 0 ? ALONE_MS : Math.max(0.5 * shown_ms, Math.min(0.6 * shown_ms, shown_ms - RESULT_MS));
  return Math.min(most, still ? STILL_MS : LONGEST_MS);
}

/** `reducedMotion`: the player prefers it. */
export function sequenceTiming(configuration: TableConfiguration | undefined, still: boolean): Timing {
  const { result_shown_ms = 0, play } = configuration ?? {};
  const rolls_ms = rolling_ms(result_shown_ms, play === "PLAY_INDIVIDUAL", still);
  const pace = result_shown_ms ? Math.min(1, (result_shown_ms - rolls_ms) / UNHURRIED_MS) : 1;
  return {
    rolls_ms,
    marked_ms: MARKED_MS * pace,
    collected_ms: COLLECTED_MS * pace,
    read_ms: Math.max(READ_MS, result_shown_ms),
  };
}
