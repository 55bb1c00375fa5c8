// The platform's reasons appear in the player's language, an operator's words as they are.
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";

const REASONS = [
  "a fault of the platform",
  "the source of randomness failed its health test",
  "no bet was left",
  "It is not known yet whether all games are switched off.",
];
const KIT = new URL("../../../services/kit/", import.meta.url);

/** All that the table runtime's sources say, wherever in it a reason is written. */
const sources = readdirSync(KIT, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".py"))
  .map((file) => readFileSync(new URL(file, KIT), "utf8"))
  .join("\n");

describe("a reason", () => {
  let reasons: typeof import("../../src/words/reasons");
  let language: typeof import("../../src/words/language").language;

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    reasons = await import("../../src/words/reasons");
    ({ language } = await import("../../src/words/language"));
  });

  it.each(REASONS)("that the platform writes has Portuguese words: «%s»", (reason) => {
    expect(sources).toContain(`"${reason}"`);
    language.value = "pt";
    const portuguese = reasons.reasonText(reason);
    expect(portuguese).not.toBe(reason);
    language.value = "en";
    expect(reasons.reasonText(reason)).not.toBe(portuguese);
  });

  it("appears without what a program reported", () => {
    language.value = "pt";
    expect(reasons.reasonText("the source of randomness failed its health test: repetition count")).toBe(
      "o gerador de números aleatórios não passou o seu teste de funcionamento",
    );
  });

  it("that an operator wrote stays as it is", () => {
    expect(reasons.reasonText("Manutenção até às 18 h")).toBe("Manutenção até às 18 h");
    expect(reasons.reasonText("")).toBe("");
  });

  it("of a round whose bets were all taken back mentions no error", () => {
    const phrase = { pt: "Ocorreu um erro", en: "An error" };
    const emptied = { pt: "Tudo foi retirado", en: "Everything was taken back" };
    expect(reasons.voidText({ reason: "a fault of the platform", phrase }, emptied)).toBe(phrase);
    expect(reasons.voidText({ reason: "no bet was left", phrase }, emptied)).toBe(emptied);
  });
});
