// What the platform gives as a reason is told in the player's language; an operator's words are told as they are.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";

// Where the platform writes each of them.
const WRITTEN: readonly [file: string, reason: string][] = [
  ["live_table.py", "a fault of the platform"],
  ["live_table.py", "the source of randomness failed its health test"],
  ["closing.py", "every bet was taken back"],
  ["platform_switch.py", "It is not known yet whether all games are switched off."],
];

describe("a reason", () => {
  let reasons: typeof import("../../src/words/reasons");
  let language: typeof import("../../src/words/language").language;

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    reasons = await import("../../src/words/reasons");
    ({ language } = await import("../../src/words/language"));
  });

  it.each(WRITTEN)("of %s has Portuguese words: «%s»", (file, reason) => {
    const source = readFileSync(new URL(`../../../services/kit/table/${file}`, import.meta.url), "utf8");
    expect(source).toContain(`"${reason}"`);
    language.value = "pt";
    const told = reasons.reasonWords(reason);
    expect(told).not.toBe(reason);
    language.value = "en";
    expect(reasons.reasonWords(reason)).not.toBe(told);
  });

  it("is told without what a program reported", () => {
    language.value = "pt";
    expect(reasons.reasonWords("the source of randomness failed its health test: repetition count")).toBe(
      "o gerador de números aleatórios não passou o seu teste de funcionamento",
    );
  });

  it("that an operator wrote stays", () => {
    expect(reasons.reasonWords("Manutenção até às 18 h")).toBe("Manutenção até às 18 h");
    expect(reasons.reasonWords("")).toBe("");
  });

  it("of a round that nobody has a bet in any more speaks of no error", () => {
    const words = { pt: "Ocorreu um erro", en: "An error" };
    expect(reasons.voidWords({ reason: "a fault of the platform", words })).toBe(words);
    expect(reasons.voidWords({ reason: "every bet was taken back", words })?.pt).toContain("retiradas");
  });
});
