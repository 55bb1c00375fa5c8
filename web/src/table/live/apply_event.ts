// Applies an event to a table's snapshot.
import type { PastOutcome, RoundOnTable, TableEvent, TableSnapshot } from "../../api/messages";
import { applyBetsCancelled, applyBetsPlaced } from "./seat_bets";

// As many as the platform's own snapshots hold.
const PAST_KEPT = 20;

export function applyEvent(table: TableSnapshot, event: TableEvent): TableSnapshot {
  const now = { ...table, seq: event.seq };
  if (event.at) now.at = event.at;
  if (event.round_opened?.round) {
    const { next_round_opens_at: _, shoe: __, ...opened } = now;
    const { round, shoe } = event.round_opened;
    return { ...opened, phase: "PHASE_BETTING", round, bets: [], ...(shoe && { shoe }) };
  }
  if (event.bets_placed) return { ...now, bets: applyBetsPlaced(table.bets, event.bets_placed) };
  if (event.bets_cancelled) return { ...now, bets: applyBetsCancelled(table.bets, event.bets_cancelled) };
  if (event.betting_closed) return { ...now, phase: "PHASE_CLOSED" };
  if (event.round_dealt && table.round) {
    const { view, turn, shown_at, draw_trigger } = event.round_dealt;
    const round = inProgress({ ...table.round, draw_trigger }, { view, turn, shown_at });
    return { ...now, phase: "PHASE_PLAYING", round };
  }
  if (event.move_made && table.round) {
    const { view, turn, shown_at } = event.move_made;
    return { ...now, phase: "PHASE_PLAYING", round: inProgress(table.round, { view, turn, shown_at }) };
  }
  if (event.outcome_drawn?.outcome && table.round) {
    const { outcome, round_id, shown_at, draw_trigger, shoe } = event.outcome_drawn;
    const drawn: PastOutcome = { round_id, outcome, ...(event.at ? { drawn_at: event.at } : {}) };
    const { turn: _, ...round } = table.round;
    return {
      ...now,
      phase: "PHASE_DRAWN",
      ...(shoe && { shoe }),
      round: { ...round, outcome, draw_trigger, ...(shown_at ? { shown_at } : {}) },
      past_outcomes: [drawn, ...table.past_outcomes].slice(0, Math.max(PAST_KEPT, table.past_outcomes.length)),
    };
  }
  const ended = event.round_settled ?? event.round_voided;
  if (ended) {
    const { next_round_opens_at } = ended;
    return { ...now, phase: "PHASE_RESULT_SHOWN", ...(next_round_opens_at && { next_round_opens_at }) };
  }
  if (event.table_switched) {
    const { enabled, reason } = event.table_switched;
    return { ...now, disabled_reason: enabled ? "" : reason, phase: enabled ? "PHASE_IDLE" : "PHASE_DISABLED" };
  }
  if (event.seat_taken) return { ...now, seated: table.seated + 1 };
  if (event.seat_left) return { ...now, seated: Math.max(0, table.seated - 1) };
  if (event.table_emptied) {
    const { round: _, next_round_opens_at: __, ...emptied } = now;
    return { ...emptied, phase: "PHASE_IDLE", bets: [] };
  }
  return now;
}

/** The round as an event shows it: without a turn nobody decides any more. */
function inProgress(
  round: RoundOnTable,
  shown: { [Part in "view" | "turn" | "shown_at"]: RoundOnTable[Part] | undefined },
): RoundOnTable {
  const { turn: _, ...rest } = round;
  const { view, turn, shown_at } = shown;
  return { ...rest, ...(view && { view }), ...(turn && { turn }), ...(shown_at && { shown_at }) };
}
