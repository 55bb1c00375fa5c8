// A table's limits in short.
import type { TableConfiguration } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents, cents, shortAmount } from "../../../words/money";
import type { SpecificRules } from "../messages/messages";

const limitsWords = dictionary(
  {
    variants: { "806/2015": "Hold'em", "811/2015": "Omaha" } as Readonly<Record<string, string>>,
    limits: {
      LIMIT_NO_LIMIT: "sem limite",
      LIMIT_POT: "limite de pote",
      LIMIT_HALF_POT: "limite de meio pote",
      LIMIT_FIXED_RAISES: "com limite",
    } as Readonly<Record<string, string>>,
    euros: (whole: string) => `${whole}\u00a0€`,
  },
  {
    variants: { "806/2015": "Hold'em", "811/2015": "Omaha" },
    limits: {
      LIMIT_NO_LIMIT: "no limit",
      LIMIT_POT: "pot limit",
      LIMIT_HALF_POT: "half-pot limit",
      LIMIT_FIXED_RAISES: "fixed limit",
    },
    euros: (whole: string) => `€${whole}`,
  },
);

/** The blinds, small and big. */
export function blindsOf(rules: SpecificRules): { small: Cents; big: Cents } {
  const big = cents(rules.big_blind_cents);
  return { small: cents(rules.small_blind_cents) || Math.floor(big / 2), big };
}

/** `Hold'em sem limite · 0,50 € / 1 €`: the variant, its limit and the blinds. */
export function limitsText({ rules, mode, regulation }: TableConfiguration): string {
  const words = limitsWords();
  const specific = (rules ?? {}) as SpecificRules;
  const variant = words.variants[regulation] ?? "";
  const usual = regulation === "811/2015" ? "LIMIT_POT" : "LIMIT_NO_LIMIT";
  const limit = words.limits[specific.limit ?? ""] ?? words.limits[usual] ?? "";
  const { small, big } = blindsOf(specific);
  const euro = (value: Cents) => (value % 100 ? amount(value, mode) : words.euros(shortAmount(value)));
  const blinds =
    mode === "MODE_DEMO" ? `${shortAmount(small)} / ${amount(big, mode)}` : `${euro(small)} / ${euro(big)}`;
  return `${variant} ${limit} · ${blinds}`;
}
