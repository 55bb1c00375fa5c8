// A table's limits in short (812/2015:14, 15, 40).
import "../../../page";
import { expect, test } from "vitest";
import type { TableConfiguration } from "../../../../src/api/messages";
import { limitsText } from "../../../../src/games/baccarat/words/limits";

const limits = (rules: object, mode = "MODE_REAL") =>
  limitsText({ mode, rules: { minimum_cents: "100", ...rules } } as unknown as TableConfiguration).replaceAll(
    "\u00a0",
    " ",
  );

test("from the minimum to the highest maximum of a chance", () => {
  expect(limits({})).toBe("1 € – 70 €");
  expect(limits({ minimum_cents: "50" })).toBe("0,50 € – 35 €");
  expect(limits({}, "MODE_DEMO")).toBe("1 – 70 créditos");
});

test("an operator may have lowered them", () => {
  const maxima = [
    { chance: "ponto", times_minimum: 10 },
    { chance: "banca", times_minimum: 12 },
  ];
  expect(limits({ maxima })).toBe("1 € – 15 €");
});

test("Macau has no maximum", () => {
  expect(limits({ macau: true })).toBe("desde 1 €");
});
