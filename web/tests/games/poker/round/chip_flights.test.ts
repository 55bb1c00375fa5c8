// Chips go where the platform's messages say: no cent more, no cent less.
import "../../../page";
import { expect, test } from "vitest";
import { betsCollected, lastBets, prizesMoved } from "../../../../src/games/poker/round/chip_flights";
import { seatView, view } from "../hands";

test("within a betting round bets stay where they are", () => {
  expect(betsCollected(view(), view({ total_cents: "250" }))).toEqual([]);
});

test("when it ends, all of its bets go to the pot, the last one included", () => {
  const flop = view({
    street: "STREET_FLOP",
    board: ["2s", "3s", "4s"],
    seats: [seatView(2, { stack_cents: "9900" }), seatView(3, { stack_cents: "9900" }), seatView(1)],
  });
  expect(betsCollected(view(), flop)).toEqual([
    { from: 2, to: "pot", cents: 100 },
    { from: 3, to: "pot", cents: 100 },
  ]);
});

test("when a hand ends, what lies in front of players goes to the pot", () => {
  expect(lastBets(view())).toEqual([
    { from: 2, to: "pot", cents: 50 },
    { from: 3, to: "pot", cents: 100 },
  ]);
});

test("a winner of several pots gets one pile", () => {
  const prizes = [
    { pot: 0, seat: 3, net_cents: 500 },
    { pot: 1, seat: 3, net_cents: 200 },
    { pot: 1, seat: 1, net_cents: 199 },
  ];
  expect(prizesMoved(prizes)).toEqual([
    { from: "pot", to: 3, cents: 700 },
    { from: "pot", to: 1, cents: 199 },
  ]);
});
