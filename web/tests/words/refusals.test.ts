// Every refusal reason of the contracts has words for players, in both languages.
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
  let refusals: typeof import("../../src/words/refusals");

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    const { language } = await import("../../src/words/language");
    language.value = spoken;
    refusals = await import("../../src/words/refusals");
  });

  it.each(PROTOS)("every reason of %s is known", (proto) => {
    const all = reasons(proto);
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter((reason) => !refusals.hasPlayerText(reason) && !refusals.INTERNAL_REASONS.has(reason))).toEqual(
      [],
    );
  });

  it("no reason is both for players and internal", () => {
    expect([...refusals.INTERNAL_REASONS].filter((reason) => refusals.hasPlayerText(reason))).toEqual([]);
  });

  it("texts are never the machine's, with facts or without", () => {
    const facts = { free_cents: "150", needed_cents: "500", minimum_cents: "200", maximum_cents: "3000", seats: "7" };
    for (const reason of PROTOS.flatMap(reasons)) {
      for (const known of [{}, facts]) {
        const text = refusals.refusalText(new Refusal(reason, known, "", "machine"), "MODE_REAL");
        expect(text, reason).toMatch(/^[A-ZÁÉÍÓÚ].{12,}[.!?]$/);
        expect(text, reason).not.toMatch(/undefined|NaN|null|_|machine/);
      }
    }
  });

  it("amounts are in the table's mode", () => {
    const short = new Refusal("INSUFFICIENT_FUNDS", { free_cents: "150", needed_cents: "500" }, "", "");
    const real = refusals.refusalText(short, "MODE_REAL");
    expect(real).toMatch(/€/);
    expect(real).toMatch(/5[,.]00/);
    expect(real).toMatch(/1[,.]50/);
    expect(refusals.refusalText(short, "MODE_DEMO")).toMatch(spoken === "pt" ? /5 créditos/ : /5 credits/);
  });

  it("a limit names its amount", () => {
    const high = new Refusal("ABOVE_MAXIMUM", { maximum_cents: "3000" }, "", "");
    expect(refusals.refusalText(high, "MODE_REAL")).toMatch(/30[,.]00/);
  });

  it("a missing answer is not called a refusal", () => {
    const [lost, fault] = ["", "SOMETHING_NEW"].map((reason) =>
      refusals.refusalText(new Refusal(reason, {}, "", ""), "MODE_REAL"),
    );
    expect(lost).not.toEqual(fault);
  });
});
