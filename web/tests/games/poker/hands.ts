// Messages of poker hands for tests.
import type { TableSnapshot } from "../../../src/api/messages";
import type { Outcome, SeatView, View } from "../../../src/games/poker/messages/messages";

export function seatView(seat: number, more: Partial<SeatView> = {}): SeatView {
  return {
    seat,
    stack_cents: "10000",
    bet_cents: "0",
    folded: false,
    all_in: false,
    cards: [],
    combination: "COMBINATION_UNSPECIFIED",
    best_cards: [],
    ...more,
  };
}

/** Three seats before the flop: seat 1 has the button, 2 and 3 the blinds. */
export function view(more: Partial<View> = {}): View {
  return {
    "@type": "type.googleapis.com/feltro.poker.v1.View",
    street: "STREET_PREFLOP",
    board: [],
    seats: [
      seatView(2, { stack_cents: "9950", bet_cents: "50" }),
      seatView(3, { stack_cents: "9900", bet_cents: "100" }),
      seatView(1),
    ],
    button: 1,
    small_blind: 2,
    big_blind: 3,
    pots: [],
    total_cents: "150",
    legal: { seat: 1, to_call_cents: "100", min_to_cents: "200", max_to_cents: "10000" },
    ...more,
  } as View;
}

export function outcome(last: View, more: Partial<Outcome> = {}): Outcome {
  return {
    "@type": "type.googleapis.com/feltro.poker.v1.Outcome",
    view: last,
    payments: [],
    results: [],
    commission_cents: "0",
    ...more,
  } as Outcome;
}

/** A table of so many seats with three players, who have 100 each. */
export function table(seats = 6): Pick<TableSnapshot, "seats" | "caves" | "configuration"> {
  return {
    seats: Array.from({ length: seats }, (_, index) => ({ seat: index + 1, taken: index < 3 })),
    caves: [1, 2, 3].map((seat) => ({
      seat,
      cave_cents: "10000",
      standing: "CAVE_STANDING_PLAYING" as const,
      disconnected: false,
    })),
  };
}
