// No player is left without words: every reason of the contracts has them, in both languages.
// @vitest-environment node
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { Refusal } from "../../src/api/refusal";

const PROTOS = ["table/v1/types", "wallet/v1/types", "gateway/v1/gateway"];

function reasons(proto: string): string[] {
  const text = readFileSync(new URL(`../../../protos/feltro/${proto}.proto`, import.meta.url), "utf8");
  const block = text.match(/enum RefusalReason \{[\s\S]*?\n\}/)?.[0] ?? "";
  return [...block.matchAll(/REFUSAL_REASON_(\w+) = [1-9]\d*/g)].map((found) => found[1] as string);
}

describe.each(["pt", "en"] as const)("in %s", (spoken) => {
  let said: typeof import("../../src/table/refusal_words");

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    const { language } = await import("../../src/words/language");
    language.value = spoken;
    said = await import("../../src/table/refusal_words");
  });

  it.each(PROTOS)("every reason of %s is spoken of", (proto) => {
    const all = reasons(proto);
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter((reason) => !said.isMet(reason) && !said.OURS.has(reason))).toEqual([]);
  });

  it("nothing is both a player's and ours", () => {
    expect([...said.OURS].filter((reason) => said.isMet(reason))).toEqual([]);
  });

  it("words are never the machine's, with facts or without", () => {
    const facts = { free_cents: "150", needed_cents: "500", minimum_cents: "200", maximum_cents: "3000", seats: "7" };
    for (const reason of PROTOS.flatMap(reasons)) {
      for (const known of [{}, facts]) {
        const text = said.refusalWords(new Refusal(reason, known, "", "machine"), "MODE_REAL");
        expect(text, reason).toMatch(/^[A-ZÁÉÍÓÚ].{12,}[.!?]$/);
        expect(text, reason).not.toMatch(/undefined|NaN|null|_|machine/);
      }
    }
  });

  it("amounts are told in what is played with", () => {
    const short = new Refusal("INSUFFICIENT_FUNDS", { free_cents: "150", needed_cents: "500" }, "", "");
    const real = said.refusalWords(short, "MODE_REAL");
    expect(real).toMatch(/€/);
    expect(real).toMatch(/5[,.]00/);
    expect(real).toMatch(/1[,.]50/);
    expect(said.refusalWords(short, "MODE_DEMO")).toMatch(spoken === "pt" ? /5 créditos/ : /5 credits/);
  });

  it("a limit is told", () => {
    const high = new Refusal("ABOVE_MAXIMUM", { maximum_cents: "3000" }, "", "");
    expect(said.refusalWords(high, "MODE_REAL")).toMatch(/30[,.]00/);
  });

  it("no answer at all is not called a refusal", () => {
    const [lost, fault] = ["", "SOMETHING_NEW"].map((reason) =>
      said.refusalWords(new Refusal(reason, {}, "", ""), "MODE_REAL"),
    );
    expect(lost).not.toEqual(fault);
  });
});
