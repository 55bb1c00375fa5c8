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
  if (event.round_dealt) {
    const { round_id, view, turn, shown_at, draw_trigger } = event.round_dealt;
    // Where no betting comes before the deal, the deal opens the round.
    const opened = table.round?.round_id === round_id ? table.round : dealtRound(table, event);
    if (!opened) return now;
    const { next_round_opens_at: _, ...dealt } = now;
    const round = inProgress({ ...opened, draw_trigger }, { view, turn, shown_at });
    return { ...dealt, phase: "PHASE_PLAYING", round };
  }
  if (event.move_made && table.round) {
    const { view, turn, shown_at } = event.move_made;
    return { ...now, phase: "PHASE_PLAYING", round: inProgress(table.round, { view, turn, shown_at }) };
  }
  if (event.turn_changed?.turn && table.round?.round_id === event.turn_changed.round_id) {
    return { ...now, round: { ...table.round, turn: event.turn_changed.turn } };
  }
  if (event.cards_shown && table.round?.round_id === event.cards_shown.round_id) {
    const { view, shown_at } = event.cards_shown;
    return { ...now, round: inProgress(table.round, { view, turn: undefined, shown_at }) };
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
  if (event.caves_changed) {
    const { caves, waiting } = event.caves_changed;
    return { ...now, caves, waiting };
  }
  if (event.chips_changed?.chips) return { ...now, chips: event.chips_changed.chips };
  if (event.seat_taken) return { ...now, seated: table.seated + 1, seats: seatsAfter(table, event.seat_taken, true) };
  if (event.seat_left) {
    return { ...now, seated: Math.max(0, table.seated - 1), seats: seatsAfter(table, event.seat_left, false) };
  }
  if (event.table_emptied) {
    const { round: _, next_round_opens_at: __, ...emptied } = now;
    return { ...emptied, phase: "PHASE_IDLE", bets: [] };
  }
  return now;
}

/** The round of a table with caves or chips: they come with no round before their hands. */
function dealtRound(table: TableSnapshot, { at, round_dealt }: TableEvent): RoundOnTable | undefined {
  if (!round_dealt || ((table.caves ?? []).length === 0 && !table.chips)) return table.round;
  const { round_id, draw_trigger } = round_dealt;
  const { configuration_version } = table;
  return { round_id, configuration_version, draw_trigger, ...(at && { opened_at: at }) };
}

/** The seats after one was taken or left; a table whose players choose none lists none. */
function seatsAfter(table: TableSnapshot, { seat }: { seat: number }, taken: boolean): TableSnapshot["seats"] {
  return table.seats.map((each) => (each.seat === seat ? { ...each, taken } : each));
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
