// How long each part of a round's story takes at a table.
import type { TableConfiguration } from "../../api/messages";

// A player alone, whose table shows no result by itself: nobody waits for him, and the next round waits for his word.
const ALONE_MS = 5200;
const STILL_MS = 700;
const LONGEST_MS = 9000;
// The ball leaves so much of a result's time to the result; it never takes less than half of all, nor more than most.
const RESULT_MS = 4000;
// Marking and collecting are quicker where the result has less than this.
const UNHURRIED_MS = 2000;
const MARKED_MS = 550;
const COLLECTED_MS = 600;
// What a round came to can be read for so long at the least, and for no less than the table shows its results.
const READ_MS = 6000;

export interface Timing {
  rolls_ms: number;
  marked_ms: number;
  collected_ms: number;
  /** From the payment on, into the next window if need be. */
  read_ms: number;
}

/** How long the ball takes, of the time between the outcome and the next round. */
export function rolling_ms(shown_ms: number, individual: boolean, still: boolean): number {
  const most =
    individual && shown_ms === 0 ? ALONE_MS : Math.max(0.5 * shown_ms, Math.min(0.6 * shown_ms, shown_ms - RESULT_MS));
  return Math.min(most, still ? STILL_MS : LONGEST_MS);
}

/** `still`: the player wants nothing to move. */
export function timing(configuration: TableConfiguration | undefined, still: boolean): Timing {
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
