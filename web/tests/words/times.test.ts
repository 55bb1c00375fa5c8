// Durations: as a clock writes them, and in words.
import "../page";
import { expect, it } from "vitest";
import { duration, durationInWords } from "../../src/words/times";

it.each([
  [9.8, "0:09", "9 s"],
  [185, "3:05", "3 min 5 s"],
  [4052, "1:07:32", "1 h 07 min"],
  [-1, "0:00", "0 s"],
])("%d seconds", (seconds, written, said) => {
  expect([duration(seconds), durationInWords(seconds)]).toEqual([written, said]);
});
