// Spans of time: as a clock writes them, and as one says them.
import "../games/roulette/page";
import { expect, it } from "vitest";
import { span, spanSaid } from "../../src/words/moments";

it.each([
  [9.8, "0:09", "9 s"],
  [185, "3:05", "3 min 5 s"],
  [4052, "1:07:32", "1 h 07 min"],
  [-1, "0:00", "0 s"],
])("%d seconds", (seconds, written, said) => {
  expect([span(seconds), spanSaid(seconds)]).toEqual([written, said]);
});
