// Outcomes in words, in both languages.
import "../../../page";
import { beforeEach, expect, test } from "vitest";
import { describeOutcome, handText, outcomeLabel, outcomeOf } from "../../../../src/games/baccarat/words/outcomes";
import { language } from "../../../../src/words/language";
import { outcomeOfCards } from "../outcomes";

const banca = outcomeOfCards("2h Kd 4c", "As Ad 5s");
const tie = outcomeOfCards("Kc 6h", "2d 4s");

beforeEach(() => {
  language.value = "pt";
});

test("the winner, both scores and the pairs", () => {
  expect(describeOutcome(banca)).toBe("Ganha a banca, 7 a 6, par da banca");
  expect(describeOutcome(outcomeOfCards("Ks Kh 9c", "2c 4d"))).toBe("Ganha o ponto, 9 a 6, par do ponto");
  expect(describeOutcome(tie)).toBe("Empate a 6");
  language.value = "en";
  expect(describeOutcome(banca)).toBe("Banca wins, 7 to 6, banca pair");
  expect(describeOutcome(tie)).toBe("Tie at 6");
});

test("a hand with its cards and score", () => {
  expect(handText("banca", banca.banca, 7)).toBe("Banca: ás de espadas, ás de ouros e 5 de espadas; 7 pontos");
  expect(handText("ponto", ["As", "Kd"], 1)).toBe("Ponto: ás de espadas e rei de ouros; 1 ponto");
});

test("for lists, in short", () => {
  expect(outcomeLabel(banca as object)).toBe("Banca 7–6");
  expect(outcomeLabel(tie as object)).toBe("Empate 6–6");
  expect(outcomeLabel({ "@type": "another" })).toBe("");
  expect(outcomeOf(undefined)).toBeNull();
});
