// Other players' bets, by chance and by place.
import "../../../page";
import { expect, test } from "vitest";
import type { SeatBets } from "../../../../src/api/messages";
import { betsOnPlace, otherBets } from "../../../../src/games/baccarat/cloth/other_bets";

const seat = (number: number, bets: Record<string, number>) =>
  ({
    seat: number,
    bets: { bets: Object.entries(bets).map(([place, amount]) => ({ place, amount_cents: String(amount) })) },
  }) as unknown as SeatBets;
const seats = [seat(1, { ponto: 500 }), seat(2, { ponto: 300, tie: 100 }), seat(4, { banca: 900 })];

test("everybody's but the player's own", () => {
  expect(Object.fromEntries(otherBets(seats, 4))).toEqual({
    ponto: { players: 2, cents: 800 },
    tie: { players: 1, cents: 100 },
  });
});

test("a place is the seat of the same number", () => {
  expect(Object.fromEntries(betsOnPlace(seats, 2))).toEqual({ ponto: 300, tie: 100 });
  expect(betsOnPlace(seats, 3).size).toBe(0);
});
