// Amounts in both languages; credits never look like money.
import { beforeAll, describe, expect, it, vi } from "vitest";

const plainSpaces = (text: string) => text.replace(/\s/g, " ");

describe("amounts", () => {
  let money: typeof import("../../src/words/money");
  let speak: (language: "pt" | "en") => void;

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    const { language } = await import("../../src/words/language");
    speak = (spoken) => {
      language.value = spoken;
    };
    money = await import("../../src/words/money");
  });

  it("are euros where there is money", () => {
    speak("pt");
    expect(plainSpaces(money.amount(1_234_550, "MODE_REAL"))).toBe("12 345,50 €");
    speak("en");
    expect(money.amount(1_234_550, "MODE_REAL")).toBe("€12,345.50");
  });

  it("are credits without money, and one is singular", () => {
    speak("pt");
    expect(money.amount(100, "MODE_DEMO")).toBe("1 crédito");
    expect(money.amount(250, "MODE_DEMO")).toBe("2,5 créditos");
    speak("en");
    expect(money.amount(100, "MODE_DEMO")).toBe("1 credit");
    expect(money.amount(0, "MODE_DEMO")).toBe("0 credits");
  });

  it("carry the sign of a gain or loss", () => {
    speak("en");
    expect(money.signedAmount(500, "MODE_REAL")).toBe("+€5.00");
    expect(money.signedAmount(-500, "MODE_REAL")).toBe("−€5.00");
    expect(money.signedAmount(0, "MODE_REAL")).toBe("€0.00");
    expect(money.signedAmount(-500, "MODE_REAL", money.bareAmount)).toBe("−5.00");
  });
});
