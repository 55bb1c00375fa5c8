// The player's state of inactivity: from the last notice, or, after a reconnect, from the session itself.
import type { Play, Session, SessionNotice, TableConfiguration } from "../../api/messages";

export type Inactivity =
  | { kind: "invitation"; rule: string }
  /** `endsAt` at an individual table; at others the player has to bet in the current round. */
  | { kind: "warning"; rule: string; endsAt?: string };

export function inactivityState(
  session: Session | null,
  notice: SessionNotice | null,
  play: Play | undefined,
): Inactivity | null {
  if (!session || session.state === "SESSION_STATE_ENDING" || session.state === "SESSION_STATE_ENDED") return null;
  if (notice?.kind === "SESSION_NOTICE_KIND_INVITATION") return { kind: "invitation", rule: notice.rule };
  if (notice?.kind === "SESSION_NOTICE_KIND_WARNING") return warning(notice.rule, notice.ends_at);
  if (notice) return null;
  if (session.state === "SESSION_STATE_INVITED") return { kind: "invitation", rule: "" };
  if (session.state !== "SESSION_STATE_WARNED") return null;
  return warning("", play === "PLAY_INDIVIDUAL" ? session.next_step_at : undefined);
}

function warning(rule: string, endsAt: string | undefined): Inactivity {
  return endsAt ? { kind: "warning", rule, endsAt } : { kind: "warning", rule };
}

// The regulation's own numbers, the earliest moment it allows (804/2015:28, 807/2015:30).
const IDLE_S = 180;
const MISSED_ROUNDS = 5;

/** After how long a player is invited to leave: seconds at an individual table, rounds at others. */
export function inactivityLimit(
  configuration: TableConfiguration | undefined,
): { seconds: number } | { rounds: number } {
  const policy = configuration?.inactivity;
  if (configuration?.play === "PLAY_INDIVIDUAL") return { seconds: policy?.idle_seconds || IDLE_S };
  return { rounds: policy?.missed_rounds || MISSED_ROUNDS };
}
