// What everybody sees of a table after an event, from what he saw before it. It knows no game.
import type { PastOutcome, TableEvent, TableSnapshot } from "../api/messages";

// As many as the platform's own snapshots hold.
const PAST_KEPT = 20;

export function after(table: TableSnapshot, event: TableEvent): TableSnapshot {
  const now = { ...table, seq: event.seq };
  if (event.at) now.at = event.at;
  if (event.round_opened?.round) {
    return { ...now, phase: "PHASE_BETTING", round: event.round_opened.round, bets: [] };
  }
  if (event.betting_closed) return { ...now, phase: "PHASE_CLOSED" };
  if (event.outcome_drawn?.outcome && table.round) {
    const { outcome, round_id } = event.outcome_drawn;
    const drawn: PastOutcome = { round_id, outcome, ...(event.at ? { drawn_at: event.at } : {}) };
    return {
      ...now,
      phase: "PHASE_DRAWN",
      round: { ...table.round, outcome },
      past: [drawn, ...table.past].slice(0, Math.max(PAST_KEPT, table.past.length)),
    };
  }
  if (event.round_settled || event.round_void) return { ...now, phase: "PHASE_SHOWN" };
  if (event.table_switched) {
    const { enabled, reason } = event.table_switched;
    return { ...now, disabled_reason: enabled ? "" : reason, phase: enabled ? "PHASE_RESTING" : "PHASE_DISABLED" };
  }
  if (event.seat_taken) return { ...now, seated: table.seated + 1 };
  if (event.seat_left) return { ...now, seated: Math.max(0, table.seated - 1) };
  if (event.table_resting) {
    const { round: _, ...without } = now;
    return { ...without, phase: "PHASE_RESTING", bets: [] };
  }
  return now;
}
