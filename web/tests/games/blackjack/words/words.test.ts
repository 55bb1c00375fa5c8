// What the table says of hands, results and questions, in both languages.
import "../../../page";
import { afterEach, describe, expect, test } from "vitest";
import { bankText, handText, questionText } from "../../../../src/games/blackjack/words/announcements";
import { limitsText } from "../../../../src/games/blackjack/words/limits";
import { bankResult, bankResultShort, outcomeLabel } from "../../../../src/games/blackjack/words/outcomes";
import { blackjackRefusals } from "../../../../src/games/blackjack/words/refusals";
import { insuranceText, roundDetailText, roundResultText } from "../../../../src/games/blackjack/words/result_words";
import { bankScoreLabel, scoreLabel, scoreSaid } from "../../../../src/games/blackjack/words/scores";
import { language } from "../../../../src/words/language";
import { bank, hand, outcome } from "../hands";

afterEach(() => {
  language.value = "pt";
});

const euros = (text: string) => text.replaceAll("\u00a0", " ");

test("scores beside the cards: soft and hard", () => {
  expect(scoreLabel(hand(1, "As 6c", { score: 17, soft: true }))).toBe("7/17");
  expect(scoreLabel(hand(1, "As 6c", { score: 17, soft: true, state: "HAND_STATE_STOOD" }))).toBe("17");
  expect(scoreLabel(hand(1, "Ts 7c", { score: 17 }))).toBe("17");
  expect(scoreLabel(hand(1, "As Kc", { score: 21, soft: true, blackjack: true }))).toBe("Blackjack");
  // An ace that a double has frozen at 1 (8.a.ii).
  expect(scoreLabel(hand(1, "As 8d 2c", { score: 11, doubled: true, state: "HAND_STATE_STOOD" }))).toBe("11");
  // A hand whose third card is still to come.
  expect(scoreLabel(hand(1, "Ts 5h", { score: 24 }))).toBe("15");
  expect(scoreSaid(hand(1, "Ts 5h 9c", { score: 24 }))).toBe("24, passou de 21");
});

test("the bank's score counts what lies face up", () => {
  expect(bankScoreLabel(bank("7c ?"))).toBe("7");
  expect(bankScoreLabel(bank("Ac ?"))).toBe("1/11");
  expect(bankScoreLabel(bank("Ac 6d"))).toBe("17");
  expect(bankScoreLabel(bank("Ac Kd", { blackjack: true }))).toBe("Blackjack");
});

describe("the bank's latest results (805/2015:4.c)", () => {
  test.each([
    ["19", "Banca: 19", "Bank: 19", bank("Ts 9d", { score: 19 })],
    ["BJ", "Banca: blackjack", "Bank: blackjack", bank("As Td", { score: 21, blackjack: true })],
    ["24", "Banca: 24, passou", "Bank: 24, bust", bank("Ts 6d 8c", { score: 24 })],
    ["–", "Banca: não jogou", "Bank: did not play", bank("Ts ?", { score: 10 })],
  ])("%s", (short, pt, en, hands) => {
    const drawn = outcome({}, { bank: hands });
    expect(bankResultShort(bankResult(drawn))).toBe(short);
    expect(outcomeLabel(drawn)).toBe(pt);
    language.value = "en";
    expect(outcomeLabel(drawn)).toBe(en);
  });
});

test("results of a round and of an insurance", () => {
  expect(euros(roundResultText(1000, 2500, "MODE_REAL"))).toBe("Ganhou 15,00 €");
  expect(euros(roundResultText(1000, 500, "MODE_REAL"))).toBe("Perdeu 5,00 €");
  expect(roundResultText(1000, 1000, "MODE_REAL")).toBe("Recuperou o que apostou");
  expect(euros(roundDetailText(1000, 2500, "MODE_REAL"))).toBe("Recebe 25,00 €; apostou 10,00 €");
  expect(euros(insuranceText(500, 1500, "MODE_REAL"))).toBe("Seguro: ganhou 10,00 €");
  expect(euros(insuranceText(500, 0, "MODE_REAL"))).toBe("Seguro: perdeu 5,00 €");
});

test("what screen readers hear", () => {
  expect(bankText(bank("7c ?"))).toBe("Banca: 7 de paus e carta virada para baixo; 7.");
  const played = hand(3, "As 6c", { score: 17, soft: true });
  expect(handText(played, false)).toBe("A sua mão: ás de espadas e 6 de paus; 17, com o ás a valer 11.");
  expect(handText(played, true)).toBe("Lugar 3, mão 1: ás de espadas e 6 de paus; 17, com o ás a valer 11.");
  const question = {
    place: 3,
    offer: null,
    possible: [
      { decision: "DECISION_DRAW" as const, cost_cents: 0 },
      { decision: "DECISION_DOUBLE" as const, cost_cents: 1000 },
    ],
  };
  expect(euros(questionText(question, played, false, "MODE_REAL"))).toBe(
    "É a sua vez. Pode: pedir carta; dobrar, mais 10,00 €.",
  );
  language.value = "en";
  expect(questionText({ ...question, offer: "insurance" }, null, false, "MODE_REAL")).toBe(
    "The bank has an ace. Do you want insurance on place 3?",
  );
});

test("limits in short", () => {
  const rules = { minimum_cents: "500", maximum_cents: "50000" };
  const configuration = (mode: string) => ({ rules, mode }) as never;
  expect(euros(limitsText(configuration("MODE_REAL")))).toBe("5 € – 500 €");
  expect(euros(limitsText(configuration("MODE_DEMO")))).toBe("5 – 500 créditos");
});

test("both languages word the same refusals", () => {
  const pt = Object.keys(blackjackRefusals());
  language.value = "en";
  expect(Object.keys(blackjackRefusals())).toEqual(pt);
});
