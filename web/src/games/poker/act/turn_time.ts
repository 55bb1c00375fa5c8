// The time of a decision by the platform's clock: the usual time first, then what is left of the player's time bank.
import type { Turn } from "../../../api/messages";

export type TimeStage = "usual" | "extra" | "paused" | "over";

export interface TurnTime {
  stage: TimeStage;
  /** Seconds left of this stage; while the clock stands still, of the one in which it stopped. */
  seconds: number;
  /** The part of this stage that is left, from 1 to 0. */
  share: number;
  /** Seconds of the time bank that come after the usual time. */
  extra_seconds: number;
}

/** Null where no clock runs. */
export function turnTime(turn: Turn | null, decision_ms: number, now: number): TurnTime | null {
  if (!turn?.decide_by) return null;
  const ends = Date.parse(turn.decide_by);
  const extra_from = turn.extra_time_from ? Date.parse(turn.extra_time_from) : ends;
  const at = turn.paused_since ? Math.min(now, Date.parse(turn.paused_since)) : now;
  const usual = at < extra_from;
  const until = usual ? extra_from : ends;
  // The known server time may lag a little: never show more than there is.
  const whole_ms = Math.max(1, usual ? decision_ms || until - at : ends - extra_from);
  const left_ms = Math.min(Math.max(0, until - at), whole_ms);
  const stage = turn.paused_since ? "paused" : usual ? "usual" : left_ms > 0 ? "extra" : "over";
  return {
    stage,
    seconds: Math.ceil(left_ms / 1000),
    share: left_ms / whole_ms,
    extra_seconds: usual ? Math.ceil(Math.max(0, ends - extra_from) / 1000) : 0,
  };
}
