// The words for a number.
import { beforeAll, expect, test, vi } from "vitest";

let speak: (spoken: "pt" | "en") => void;
let words: typeof import("../../../../src/games/roulette/words/outcomes");

beforeAll(async () => {
  vi.stubGlobal("document", { documentElement: {} });
  const { language } = await import("../../../../src/words/language");
  words = await import("../../../../src/games/roulette/words/outcomes");
  speak = (spoken) => {
    language.value = spoken;
  };
});

const drawn = (number: string) => ({ "@type": "type.googleapis.com/feltro.roulette.v1.Outcome", number });

test("a number has its colour and its simple chances; a zero has none", () => {
  speak("pt");
  expect(words.describeOutcome(drawn("17"))).toBe("17, preto, ímpar, menor");
  expect(words.describeOutcome(drawn("18"))).toBe("18, encarnado, par, menor");
  expect(words.describeOutcome(drawn("19"))).toBe("19, encarnado, ímpar, maior");
  expect(words.describeOutcome(drawn("0"))).toBe("Zero");
  expect(words.describeOutcome(drawn("00"))).toBe("Duplo zero");
  expect(words.describeOutcome(undefined)).toBe("");
  expect(words.outcomeLabel(drawn("17"))).toBe("17 preto");
  expect(words.outcomeLabel(drawn("0"))).toBe("0 verde");
  speak("en");
  expect(words.describeOutcome(drawn("36"))).toBe("36, red, even, high");
});
