// Combinations by the names of the regulation (806/2015:29), in both languages.
import "../../../page";
import { afterEach, expect, test } from "vitest";
import type { Combination } from "../../../../src/games/poker/messages/messages";
import { combinationText } from "../../../../src/games/poker/words/combinations";
import { language } from "../../../../src/words/language";

afterEach(() => {
  language.value = "pt";
});

test.each([
  ["ROYAL_FLUSH", "As Ks Qs Js Ts", "Sequência máxima de cor, espadas", "Royal flush of spades"],
  ["STRAIGHT_FLUSH", "Qh Jh Th 9h 8h", "Sequência de cor à dama", "Straight flush, queen high"],
  ["FOUR_OF_A_KIND", "7s 7h 7d 7c 2s", "Póquer de 7", "Four sevens"],
  ["FULL_HOUSE", "Ks Kh Kd 9c 9s", "Fullen de reis e 9", "Full house, kings and nines"],
  ["FLUSH", "Ac Jc 9c 5c 2c", "Cor de paus ao ás", "Flush of clubs, ace high"],
  ["STRAIGHT", "5c 4s 3h 2d Ac", "Sequência ao 5", "Straight, five high"],
  ["THREE_OF_A_KIND", "Js Jh Jd 9c 2s", "Trio de valetes", "Three jacks"],
  ["TWO_PAIR", "As Ah Tc Td 3s", "Dois pares, ases e 10", "Two pair, aces and tens"],
  ["PAIR", "6s 6h Kc Td 3s", "Par de 6", "Pair of sixes"],
  ["HIGH_CARD", "As Qh Tc 7d 3s", "Cartas maiores, ás e dama", "High cards, ace and queen"],
])("%s", (name, cards, pt, en) => {
  const combination = `COMBINATION_${name}` as Combination;
  expect(combinationText(combination, cards.split(" "))).toBe(pt);
  language.value = "en";
  expect(combinationText(combination, cards.split(" "))).toBe(en);
});

test("where nothing was compared, nothing is said", () => {
  expect(combinationText("COMBINATION_UNSPECIFIED", [])).toBe("");
});
