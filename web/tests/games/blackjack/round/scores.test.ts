// Scores as players count them (805/2015:8).
import "../../../page";
import { expect, test } from "vitest";
import { lowTotal, scoreOf } from "../../../../src/games/blackjack/round/scores";

test.each([
  ["Ts 7c", 17, false],
  ["As 6c", 17, true],
  ["As 6c Td", 17, false],
  ["As Ah", 12, true],
  ["As Kd", 21, true],
  ["Jh Qs 2d", 22, false],
  ["As Ah 9c", 21, true],
  ["", 0, false],
])("%s is %i", (cards, score, soft) => {
  expect(scoreOf(cards.split(" "))).toEqual({ score, soft });
});

test("a card that lies face down counts nothing", () => {
  expect(scoreOf(["9d", ""])).toEqual({ score: 9, soft: false });
});

test("with the ace as 1, as it is frozen by a double (8.a.ii)", () => {
  expect(lowTotal(["As", "8d"])).toBe(9);
  expect(lowTotal(["5s", "6d"])).toBe(11);
});
