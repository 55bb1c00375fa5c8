// A table's limits in short are those of the places it offers.
import { beforeAll, expect, test, vi } from "vitest";

let speak: (language: "pt" | "en") => void;
let limitsOf: typeof import("../../../../src/games/roulette/words/limits").limitsText;

beforeAll(async () => {
  vi.stubGlobal("document", { documentElement: {} });
  const { language } = await import("../../../../src/words/language");
  ({ limitsText: limitsOf } = await import("../../../../src/games/roulette/words/limits"));
  speak = (spoken) => {
    language.value = spoken;
  };
});

test("limits are those of the offered places", () => {
  speak("pt");
  const limits = (rules: object, mode = "MODE_REAL") =>
    limitsOf({ mode, rules: { "@type": "", ...rules } } as never).replaceAll("\u00a0", " ");
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
