// The chips of a table, and amounts stacked from chips.
import { expect, test } from "vitest";
import { chipSet, chipStack } from "../../src/chips/chips";

test("chips are multiples of the minimum, up to the highest maximum of a place", () => {
  expect(chipSet(100, 54000).map(({ value }) => value)).toEqual([100, 200, 500, 1000, 2500, 10000, 50000]);
  expect(chipSet(20, 600).map(({ value }) => value)).toEqual([20, 40, 100, 200, 500]);
  expect(chipSet(100, 0).map(({ value }) => value)).toEqual([100]);
});

test("an amount takes as few chips as possible, the largest first", () => {
  const chips = chipSet(100, 54000);
  expect(chipStack(3800, chips).map(({ value }) => value)).toEqual([2500, 1000, 200, 100]);
  expect(chipStack(100, chips).map(({ value }) => value)).toEqual([100]);
});

test("a prize that is no multiple of any chip still shows one", () => {
  const chips = chipSet(100, 54000);
  expect(chipStack(250, chips).map(({ value }) => value)).toEqual([200, 100]);
  expect(chipStack(50, chips).map(({ value }) => value)).toEqual([100]);
});
