// Chips of a table, and amounts in chips.
import { expect, test } from "vitest";
import { chipsOf, stacked } from "../../../src/games/roulette/chips";

test("chips are multiples of the minimum, none beyond what one may ever lay on a place", () => {
  expect(chipsOf(100, 54000).map(({ value }) => value)).toEqual([100, 200, 500, 1000, 2500, 10000, 50000]);
  expect(chipsOf(20, 600).map(({ value }) => value)).toEqual([20, 40, 100, 200, 500]);
  expect(chipsOf(100, 0).map(({ value }) => value)).toEqual([100]);
});

test("an amount is stacked of as few chips as it takes, the largest first", () => {
  const chips = chipsOf(100, 54000);
  expect(stacked(3800, chips).map(({ value }) => value)).toEqual([2500, 1000, 200, 100]);
  expect(stacked(100, chips).map(({ value }) => value)).toEqual([100]);
});

test("a prize that is no multiple of any chip still shows one", () => {
  const chips = chipsOf(100, 54000);
  expect(stacked(250, chips).map(({ value }) => value)).toEqual([200, 100]);
  expect(stacked(50, chips).map(({ value }) => value)).toEqual([100]);
});
