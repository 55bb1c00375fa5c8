// What the plaque calls a result.
import "../page";
import { expect, test } from "vitest";
import { verdict } from "../../src/results/verdict";

test("a payout below the stake is not called a win", () => {
  expect(verdict(0, 0)).toBe("unstaked");
  expect(verdict(500, 0)).toBe("lost");
  expect(verdict(500, 499)).toBe("less");
  expect(verdict(500, 500)).toBe("even");
  expect(verdict(500, 501)).toBe("won");
});
