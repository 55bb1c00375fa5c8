// Cards in words, and which names are cards.
import "../page";
import { afterEach, expect, test } from "vitest";
import { cardsText, cardText, parseCard, RANKS, SUITS } from "../../src/cards/card_names";
import { language } from "../../src/words/language";

afterEach(() => {
  language.value = "pt";
});

test.each([
  ["As", "ás de espadas", "ace of spades"],
  ["Td", "10 de ouros", "10 of diamonds"],
  ["7c", "7 de paus", "7 of clubs"],
  ["Jh", "valete de copas", "jack of hearts"],
  ["Qs", "dama de espadas", "queen of spades"],
  ["Kd", "rei de ouros", "king of diamonds"],
  ["", "carta virada para baixo", "face-down card"],
])("%s is %s, %s", (name, pt, en) => {
  expect(cardText(name)).toBe(pt);
  language.value = "en";
  expect(cardText(name)).toBe(en);
});

test("several cards", () => {
  expect(cardsText([])).toBe("");
  expect(cardsText(["As"])).toBe("ás de espadas");
  expect(cardsText(["As", "7c", "Kh"])).toBe("ás de espadas, 7 de paus e rei de copas");
  language.value = "en";
  expect(cardsText(["As", ""])).toBe("ace of spades and face-down card");
});

test("a pack has 52 names, and each has words of its own", () => {
  const names = RANKS.flatMap((rank) => SUITS.map((suit) => `${rank}${suit}`));
  expect(new Set(names.map(cardText)).size).toBe(52);
  for (const name of names) expect(parseCard(name)).toEqual({ rank: name[0], suit: name[1] });
});

test.each(["", "s", "1s", "Ax", "10s", "Asd", "sA"])("%j is no card", (name) => {
  expect(parseCard(name)).toBeNull();
});
