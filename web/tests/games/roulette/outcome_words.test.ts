// What is said of a number, of a result, and of a table's limits.
import { beforeAll, expect, test, vi } from "vitest";

let speak: (spoken: "pt" | "en") => void;
let said: typeof import("../../../src/games/roulette/outcome_words");
let called: typeof import("../../../src/games/roulette/outcome_called");

beforeAll(async () => {
  vi.stubGlobal("document", { documentElement: {} });
  const { language } = await import("../../../src/words/language");
  said = await import("../../../src/games/roulette/outcome_words");
  called = await import("../../../src/games/roulette/outcome_called");
  speak = (spoken) => {
    language.value = spoken;
  };
});

const drawn = (number: string) => ({ "@type": "type.googleapis.com/feltro.roulette.v1.Outcome", number });

test("a number is told with its colour and its chances; a zero has none", () => {
  speak("pt");
  expect(said.describe(drawn("17"))).toBe("17, preto, ímpar, menor");
  expect(said.describe(drawn("18"))).toBe("18, encarnado, par, menor");
  expect(said.describe(drawn("19"))).toBe("19, encarnado, ímpar, maior");
  expect(said.describe(drawn("0"))).toBe("Zero");
  expect(said.describe(drawn("00"))).toBe("Duplo zero");
  expect(said.describe(undefined)).toBe("");
  expect(said.outcome(drawn("17"))).toBe("17 preto");
  expect(said.outcome(drawn("0"))).toBe("0 verde");
  speak("en");
  expect(said.describe(drawn("36"))).toBe("36, red, even, high");
});

test("a payout below the stake is not called a win", () => {
  expect(called.verdict(0, 0)).toBe("unstaked");
  expect(called.verdict(500, 0)).toBe("lost");
  expect(called.verdict(500, 499)).toBe("less");
  expect(called.verdict(500, 500)).toBe("even");
  expect(called.verdict(500, 501)).toBe("won");
});

test("limits are those of the places that are offered", () => {
  speak("pt");
  const limits = (rules: object, mode = "MODE_REAL") =>
    said.limits({ mode, rules: { "@type": "", ...rules } } as never).replaceAll("\u00a0", " ");
  expect(limits({ minimum_cents: "100" })).toBe("1 € – 720 €");
  expect(limits({ minimum_cents: "50", without_doubles: true })).toBe("0,50 € – 270 €");
  expect(limits({ minimum_cents: "100", total_maximum_cents: "20000" })).toBe("1 € – 200 €");
  const maxima = [
    { kind: "KIND_DOUBLE_DOZEN", times_minimum: 10 },
    { kind: "KIND_DOUBLE_COLUMN", times_minimum: 600 },
  ];
  expect(limits({ minimum_cents: "100", maxima })).toBe("1 € – 600 €");
  expect(limits({ minimum_cents: "100" }, "MODE_DEMO")).toBe("1 – 720 créditos");
  speak("en");
  expect(limits({ minimum_cents: "200" })).toBe("€2 – €1,440");
});
