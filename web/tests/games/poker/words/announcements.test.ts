// What screen readers hear of a hand, and what lists say of it.
import "../../../page";
import { expect, test } from "vitest";
import { moveMessage } from "../../../../src/games/poker/messages/messages";
import { tablePicture } from "../../../../src/games/poker/round/table_picture";
import { boardText, dealtText, moveText, resultTexts, turnText } from "../../../../src/games/poker/words/announcements";
import { limitsText } from "../../../../src/games/poker/words/limits";
import { outcomeLabel } from "../../../../src/games/poker/words/outcomes";
import { seatText } from "../../../../src/games/poker/words/seat_text";
import { outcome, seatView, table, view } from "../hands";

const last = view({
  seats: [
    seatView(2, {
      stack_cents: "10300",
      cards: ["As", "Ad"],
      combination: "COMBINATION_PAIR",
      best_cards: ["As", "Ad", "Kh", "9d", "4s"],
    }),
    seatView(3, { folded: true }),
    seatView(1),
  ],
});
const ended = outcome(last, {
  payments: [
    { pot: 0, seat: 2, gross_cents: "300", commission_cents: "15" },
    { pot: 1, seat: 1, gross_cents: "100", commission_cents: "5" },
  ],
  commission_cents: "20",
});
const shown = { view: last, outcome: ended, paid: true, over: false, said: new Map() };
const picture = tablePicture(table(), shown, { seat: 1, cards: ["2c", "7d"] }, 2);

// The amounts' spaces do not break.
const plain = (text: string) => text.replaceAll("\u00a0", " ");

test("a hand from the deal to its end", () => {
  expect(dealtText(["As", "Td"], 4)).toBe("As suas cartas: ás de espadas e 10 de ouros. O botão está no lugar 4.");
  expect(moveText(3, moveMessage("ACTION_RAISE", 300), "MODE_REAL")).toMatch(/^O lugar 3 subiu para 3,00\s€\.$/);
  expect(moveText(3, moveMessage("ACTION_FOLD"), "MODE_REAL")).toBe("O lugar 3 desistiu.");
  const pair = { combination: "COMBINATION_PAIR" as const, cards: ["Ts", "Td", "Ah", "5c", "2c"] };
  expect(boardText(["2c", "5c", "Ts"], pair)).toBe(
    "Cartas viradas: 2 de paus, 5 de paus e 10 de espadas. A sua mão: Par de 10.",
  );
});

test("the turn comes with its bounds", () => {
  const bounds = { seat: 1, to_call_cents: 100, min_to_cents: 200, max_to_cents: 10000 };
  expect(plain(turnText(bounds, "MODE_REAL"))).toBe(
    "É a sua vez. Acompanhar custa 1,00 €. Pode subir para 2,00 € até 100,00 €.",
  );
  const free = { seat: 1, to_call_cents: 0, min_to_cents: 0, max_to_cents: 0 };
  expect(turnText(free, "MODE_REAL")).toBe("É a sua vez. Pode passar.");
});

test("the end says who wins which pot, with what", () => {
  expect(resultTexts(picture, 1, "MODE_REAL").map(plain)).toEqual([
    "O lugar 2 ganha 2,85 €, pote principal: Par de ases.",
    "Ganhou 0,95 €, pote lateral 1.",
  ]);
});

test("a seat says everything that is to be seen of it", () => {
  const seat = tablePicture(
    table(),
    { view: view(), paid: false, over: false, said: new Map() },
    { seat: 2, cards: ["As", "Kd"] },
    2,
  );
  const text = (number: number) => {
    const found = seat.seats[number - 1];
    if (!found) throw new Error("no such seat");
    return plain(seatText(found, { own: number === 2, deciding: number === 1, picture: seat, mode: "MODE_REAL" }));
  };
  expect(text(1)).toBe("Lugar 1: cave 100,00 €; Botão: tem a mão; 2 cartas fechadas; a decidir");
  expect(text(2)).toBe(
    "Lugar 2, Você: cave 99,50 €; Pequena aposta; apostou 0,50 €; as suas cartas: ás de espadas e rei de ouros",
  );
  expect(text(6)).toBe("Lugar 6, livre");
});

test("lists say who won, how much and with what", () => {
  expect(outcomeLabel(ended)).toBe("Lugares 2 e 1: 4, par de ases");
});

test("a table's limits are its variant, its limit and its blinds", () => {
  const configuration = (more: object, regulation = "806/2015") =>
    ({ regulation, mode: "MODE_REAL", rules: { big_blind_cents: "100", ...more } }) as Parameters<typeof limitsText>[0];
  expect(plain(limitsText(configuration({})))).toBe("Hold'em sem limite · 0,50 € / 1 €");
  expect(plain(limitsText(configuration({ limit: "LIMIT_UNSPECIFIED" }, "811/2015")))).toBe(
    "Omaha limite de pote · 0,50 € / 1 €",
  );
  const half = configuration({ limit: "LIMIT_HALF_POT", small_blind_cents: "25" });
  expect(plain(limitsText(half))).toBe("Hold'em limite de meio pote · 0,25 € / 1 €");
});
