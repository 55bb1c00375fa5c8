// The cards on the table as time passes: at the platform's pace, one picture after the other.
import "../../../page";
import { beforeEach, expect, test } from "vitest";
import { COLLECTED_MS, ShownCards } from "../../../../src/games/blackjack/felt/shown_cards";
import { hand, picture } from "../hands";

let now = 0;
let timers: { at: number; then: () => void }[] = [];
let dealt = 0;
let cards: ShownCards;

beforeEach(() => {
  now = 1000;
  timers = [];
  dealt = 0;
  const clock = {
    now: () => now,
    after: (ms: number, then: () => void) => {
      const timer = { at: now + ms, then };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
  };
  cards = new ShownCards(clock, () => {
    dealt += 1;
  });
});

function until(at: number): void {
  for (;;) {
    const next = timers.filter((timer) => timer.at <= at).sort((a, b) => a.at - b.at)[0];
    if (!next) break;
    timers = timers.filter((timer) => timer !== next);
    now = Math.max(now, next.at);
    next.then();
  }
  now = at;
}

const shown = () =>
  cards.picture.value.hands.map((one) => one.cards.join(" ")).concat(cards.picture.value.bank.cards.join(" "));
const DEALT = picture("7c ?", hand(1, "Ts 5h"));

test("cards come one by one, and the last lies at the moment that the platform says", () => {
  cards.deal(DEALT, 2600, 400);
  expect(cards.complete.value).toBe(false);
  expect(shown()).toEqual(["Ts", ""]);
  expect(cards.spanOf({ place: 1, number: 1 }, 0)).toEqual({ from_ms: 1000, until_ms: 1400 });
  expect(cards.spanOf(null, 1)).toEqual({ from_ms: 2200, until_ms: 2600 });
  until(1399);
  expect(shown()).toEqual(["Ts", ""]);
  until(1400);
  expect(shown()).toEqual(["Ts", "7c"]);
  until(1800);
  expect(shown()).toEqual(["Ts 5h", "7c"]);
  until(2599);
  expect(cards.complete.value).toBe(false);
  until(2600);
  expect(shown()).toEqual(["Ts 5h", "7c "]);
  expect(cards.complete.value).toBe(true);
  // A sound for each card that was still to come when the player saw the first.
  expect(dealt).toBe(3);
});

test("a picture waits for the one before", () => {
  cards.deal(DEALT, 2600, 400);
  cards.deal(picture("7c ?", hand(1, "Ts 5h 2d")), 3000, 400);
  until(2600);
  expect(cards.complete.value).toBe(false);
  expect(shown()[0]).toBe("Ts 5h 2d");
  expect(cards.spanOf({ place: 1, number: 1 }, 2)).toEqual({ from_ms: 2600, until_ms: 3000 });
  until(3000);
  expect(cards.complete.value).toBe(true);
});

test("who comes in the middle sees what lies, and the rest as it is dealt", () => {
  now = 1900;
  cards.deal(DEALT, 2600, 400, true);
  expect(shown()).toEqual(["Ts 5h", "7c"]);
  until(2200);
  expect(shown()).toEqual(["Ts 5h", "7c "]);
  until(2600);
  expect(cards.complete.value).toBe(true);
});

test("events that come late are shown quickly, but never all at once", () => {
  cards.deal(DEALT, 900, 400);
  expect(cards.complete.value).toBe(false);
  until(1240);
  expect(cards.complete.value).toBe(true);
});

test("the bank's card takes its time to turn, although no card leaves the shoe for it", () => {
  cards.replace(DEALT);
  cards.deal(picture("7c Td", hand(1, "Ts 5h")), 1000, 400);
  expect(cards.complete.value).toBe(false);
  until(1399);
  expect(cards.complete.value).toBe(false);
  until(1400);
  expect(shown()[1]).toBe("7c Td");
  expect(cards.complete.value).toBe(true);
});

test("a hand that is over is collected once it has been seen (20.a, 25.b); others lie", () => {
  cards.replace(picture("7c ?", hand(1, "Ts 5h"), hand(2, "9c 9d")));
  cards.deal(picture("7c ?", hand(1, "Ts 5h Kd", { state: "HAND_STATE_BUST" }), hand(2, "9c 9d")), 1400, 400);
  until(1400);
  const span = cards.collected.value.get("1.1");
  expect(span?.from_ms).toBeGreaterThan(2400);
  expect(cards.collected.value.has("2.1")).toBe(false);
});

test("at the end everything is collected", () => {
  cards.replace(DEALT);
  cards.collectAll();
  expect(cards.collected.value.get("1.1")).toEqual({ from_ms: 1000, until_ms: 1000 + COLLECTED_MS });
  expect(cards.collected.value.has("bank")).toBe(true);
  until(1000 + COLLECTED_MS);
  expect(shown()).toEqual([""]);
  expect(cards.collected.value.size).toBe(0);
});

test("the next deal does not wait for a table that is being collected", () => {
  cards.replace(picture("7c Td", hand(1, "Ts 5h")));
  cards.collectAll();
  until(1100);
  cards.deal(DEALT, 2700, 400);
  until(2700);
  expect(shown()).toEqual(["Ts 5h", "7c "]);
  expect(cards.collected.value.size).toBe(0);
});
