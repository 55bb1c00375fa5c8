// Cards come in the order of the rules (805/2015:14, 15, 17), and none is there before it is dealt.
import "../../../page";
import { describe, expect, test } from "vitest";
import { type DealingStep, dealingSteps, pictureDuring } from "../../../../src/games/blackjack/round/dealing_steps";
import { NO_CARDS } from "../../../../src/games/blackjack/round/picture";
import { hand, picture } from "../hands";

/** `3.1:0` is the first card of place 3, `bank:1` the bank's second, `bank:1!` its turning. */
function names(steps: readonly DealingStep[]): string[] {
  return steps.map(
    (step) => `${step.hand ? `${step.hand.place}.${step.hand.number}` : "bank"}:${step.at}${step.turns ? "!" : ""}`,
  );
}

const DEALT = picture("7c ?", hand(2, "Ts 5h"), hand(5, "9d 9h"));

describe("the first deal", () => {
  test("each player and the bank, then each player again and the bank's hidden card", () => {
    expect(names(dealingSteps(NO_CARDS, DEALT))).toEqual(["2.1:0", "5.1:0", "bank:0", "2.1:1", "5.1:1", "bank:1"]);
  });

  test("a card is not on the table before its step", () => {
    const steps = dealingSteps(NO_CARDS, DEALT);
    const shown = (taken: number) => {
      const { hands, bank } = pictureDuring(DEALT, steps, taken);
      return [...hands.map(({ cards }) => cards), bank.cards];
    };
    expect(shown(0)).toEqual([[], [], []]);
    expect(shown(1)).toEqual([["Ts"], [], []]);
    expect(shown(3)).toEqual([["Ts"], ["9d"], ["7c"]]);
    expect(shown(5)).toEqual([["Ts", "5h"], ["9d", "9h"], ["7c"]]);
    expect(shown(6)).toEqual([
      ["Ts", "5h"],
      ["9d", "9h"],
      ["7c", ""],
    ]);
  });
});

test("a card that was asked for", () => {
  const after = picture("7c ?", hand(2, "Ts 5h 4s"), hand(5, "9d 9h"));
  expect(names(dealingSteps(DEALT, after))).toEqual(["2.1:2"]);
});

test("a split moves a card that lies there, and deals one to the hand that is played", () => {
  const after = picture("7c ?", hand(2, "Ts 5h"), hand(5, "9d 3c"), hand(5, "9h", { number: 2 }));
  expect(names(dealingSteps(DEALT, after))).toEqual(["5.1:1"]);
  const next = picture("7c ?", hand(2, "Ts 5h"), hand(5, "9d 3c Kd"), hand(5, "9h 4c", { number: 2 }));
  expect(names(dealingSteps(after, next))).toEqual(["5.1:2", "5.2:1"]);
});

test("the bank turns its second card and draws, after the players' last card", () => {
  const after = picture("7c 5d 8h", hand(2, "Ts 5h 4s"), hand(5, "9d 9h"));
  const steps = dealingSteps(DEALT, after);
  expect(names(steps)).toEqual(["2.1:2", "bank:1!", "bank:2"]);
  expect(pictureDuring(after, steps, 1).bank.cards).toEqual(["7c", ""]);
  expect(pictureDuring(after, steps, 2).bank.cards).toEqual(["7c", "5d"]);
  expect(pictureDuring(after, steps, 3)).toEqual(after);
});

test("what became of a hand is not said before its last card lies", () => {
  const bust = hand(2, "Ts 5h 9s", { state: "HAND_STATE_BUST" });
  const after = picture("7c ?", bust, hand(5, "9d 9h"));
  const steps = dealingSteps(DEALT, after);
  expect(pictureDuring(after, steps, 0).hands[0]?.state).toBe("HAND_STATE_IN_PLAY");
  expect(pictureDuring(after, steps, 1).hands[0]?.state).toBe("HAND_STATE_BUST");
});

test("nothing new is no step", () => {
  expect(dealingSteps(DEALT, DEALT)).toEqual([]);
});
