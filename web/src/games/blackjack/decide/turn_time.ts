// The time of a decision, by the platform's clock.
import type { LiveTable } from "../../../table/live/live_table";

export interface TurnTime {
  /** Seconds left; null where no clock runs. */
  seconds: number | null;
  /** The part of the time that is left, from 1 to 0. */
  share: number;
}

export function turnTime(table: Pick<LiveTable, "turn" | "snapshot" | "individual">, now: number): TurnTime {
  const decideBy = table.turn.value?.decide_by;
  const whole_ms = table.snapshot.value?.configuration?.decision_ms ?? 0;
  if (table.individual.value || !decideBy || !whole_ms) return { seconds: null, share: 1 };
  // The known server time may lag a little: never show more than there is.
  const left_ms = Math.min(Math.max(0, Date.parse(decideBy) - now), whole_ms);
  return { seconds: Math.ceil(left_ms / 1000), share: left_ms / whole_ms };
}
