// An amount by slider, by steps and by typing: one value, always within the bounds when it can be taken.
import "../../../page";
import { beforeEach, describe, expect, test } from "vitest";
import { AmountChoice } from "../../../../src/games/poker/amounts/amount_choice";
import { amountAt, stepOf, stopAt, stopCount } from "../../../../src/games/poker/amounts/amount_steps";
import { language } from "../../../../src/words/language";

const RANGE = { minimum_cents: 200, maximum_cents: 1450 };

beforeEach(() => {
  language.value = "pt";
});

describe("stops", () => {
  test("both ends are stops, whatever the step is", () => {
    const count = stopCount(RANGE, 100);
    expect(amountAt(RANGE, 100, 0)).toBe(200);
    expect(amountAt(RANGE, 100, count - 2)).toBe(1400);
    expect(amountAt(RANGE, 100, count - 1)).toBe(1450);
    expect(stopAt(RANGE, 100, 1450)).toBe(count - 1);
  });

  test("one amount has one stop", () => {
    expect(stopCount({ minimum_cents: 300, maximum_cents: 300 }, 100)).toBe(1);
  });

  test("a wide range has no more stops than can be told apart", () => {
    const wide = { minimum_cents: 2, maximum_cents: 100_000_000 };
    expect(stopCount(wide, stepOf(wide, 2))).toBeLessThanOrEqual(401);
    expect(stepOf(RANGE, 100)).toBe(100);
    expect(stepOf(RANGE, 0)).toBe(4);
  });
});

test("begins within the bounds", () => {
  expect(new AmountChoice(RANGE, 100, 1).cents.value).toBe(200);
  expect(new AmountChoice(RANGE, 100, 9999).cents.value).toBe(1450);
});

test("is typed as it is read, in both languages", () => {
  const choice = new AmountChoice(RANGE, 100, 1205);
  expect(choice.text.value).toBe("12,05");
  language.value = "en";
  choice.set(1250);
  expect(choice.text.value).toBe("12.50");
  choice.set(1200);
  expect(choice.text.value).toBe("12");
  choice.set(123_400);
  expect(choice.text.value).toBe("14.50");
});

test("the slider stays where it was while something impossible is typed", () => {
  const choice = new AmountChoice(RANGE, 100, 700);
  expect(choice.stop.value).toBe(5);
  choice.text.value = "99";
  expect(choice.cents.value).toBeNull();
  expect(choice.typed.value.problem).toBe("above");
  expect(choice.stop.value).toBe(5);
  choice.move(1);
  expect(choice.cents.value).toBe(800);
});

test("steps stop at the ends", () => {
  const choice = new AmountChoice(RANGE, 100, 1400);
  choice.move(1);
  expect(choice.cents.value).toBe(1450);
  choice.move(1);
  expect(choice.cents.value).toBe(1450);
  choice.setStop(0);
  choice.move(-1);
  expect(choice.cents.value).toBe(200);
});
