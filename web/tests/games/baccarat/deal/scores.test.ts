// The score of open cards (812/2015:7, 8).
import { expect, test } from "vitest";
import { scoreOf } from "../../../../src/games/baccarat/deal/scores";

test.each([
  ["4c 5d", 9],
  ["Ts 7h", 7],
  ["Qs 2h 8d", 0],
  ["Kc 6h", 6],
  ["As Ad 5s", 7],
  ["9c 9d", 8],
  ["4c 6d", 0],
])("%s: %i", (cards, score) => {
  expect(scoreOf(cards.split(" "))).toBe(score);
});
