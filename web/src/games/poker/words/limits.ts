// A table's limits in short.
import type { TableConfiguration, TableSnapshot } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents, cents, shortAmount } from "../../../words/money";
import type { SpecificRules, TournamentNotice, TournamentRules } from "../messages/messages";

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

/** The regulation of the hands: a tournament names it in its rules (810/2015:55). */
export function regulationOf({ regulation, rules }: Pick<TableConfiguration, "regulation" | "rules">): string {
  return (rules as Partial<TournamentRules> | undefined)?.regulation || regulation;
}

/** The blinds in force at a table: at one of a tournament those of its level. */
export function blindsAt(table: Pick<TableSnapshot, "chips" | "configuration"> | null): { small: Cents; big: Cents } {
  const notice = table?.chips?.notice as TournamentNotice | undefined;
  if (notice) return { small: cents(notice.small_blind), big: cents(notice.big_blind) };
  return blindsOf((table?.configuration?.rules ?? {}) as SpecificRules);
}

/** The blinds, small and big. */
export function blindsOf(rules: SpecificRules): { small: Cents; big: Cents } {
  const big = cents(rules.big_blind_cents);
  return { small: cents(rules.small_blind_cents) || Math.floor(big / 2), big };
}

/** `Hold'em sem limite · 0,50 € / 1 €`: the variant, its limit and the blinds; those of a tournament change with its levels. */
export function limitsText(configuration: TableConfiguration): string {
  const { rules, mode } = configuration;
  const regulation = regulationOf(configuration);
  const words = limitsWords();
  const specific = (rules ?? {}) as SpecificRules;
  const variant = words.variants[regulation] ?? "";
  const usual = regulation === "811/2015" ? "LIMIT_POT" : "LIMIT_NO_LIMIT";
  const limit = words.limits[specific.limit ?? ""] ?? words.limits[usual] ?? "";
  const { small, big } = blindsOf(specific);
  if (!big) return `${variant} ${limit}`;
  const euro = (value: Cents) => (value % 100 ? amount(value, mode) : words.euros(shortAmount(value)));
  const blinds =
    mode === "MODE_DEMO" ? `${shortAmount(small)} / ${amount(big, mode)}` : `${euro(small)} / ${euro(big)}`;
  return `${variant} ${limit} · ${blinds}`;
}
