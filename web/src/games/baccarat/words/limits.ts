// A table's limits in short.
import type { TableConfiguration } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents, cents, shortAmount } from "../../../words/money";
import type { SpecificRules } from "../layout/messages";
import { CHANCES, type Chance } from "./chances";

const limitsWords = dictionary(
  { euros: (whole: string) => `${whole}\u00a0€`, from: (least: string) => `desde ${least}` },
  { euros: (whole: string) => `€${whole}`, from: (least: string) => `from ${least}` },
);

// The most that the regulation allows on a chance, as a multiple of the minimum (812/2015:15).
const CEILINGS: Readonly<Record<Chance, number>> = {
  ponto: 70,
  banca: 70,
  tie: 15,
  "ponto-pair": 8,
  "banca-pair": 8,
};

/** The minimum of a bet, and the highest maximum of a chance: `1 € – 70 €`; in Macau, without a maximum: `desde 1 €`. */
export function limitsText(configuration: TableConfiguration): string {
  const rules = (configuration.rules ?? {}) as Partial<SpecificRules>;
  const { mode } = configuration;
  const minimum = cents(rules.minimum_cents);
  const amountText = (value: Cents) =>
    mode === "MODE_DEMO" || value % 100 ? amount(value, mode) : limitsWords().euros(shortAmount(value));
  if (rules.macau) return limitsWords().from(amountText(minimum));
  const lowered = new Map(rules.maxima?.map(({ chance, times_minimum }) => [chance, times_minimum]));
  const times = CHANCES.filter((chance) => !(rules.without_pairs && chance.endsWith("-pair"))).map((chance) =>
    Math.min(CEILINGS[chance], lowered.get(chance) ?? CEILINGS[chance]),
  );
  const maximum = minimum * Math.max(...times);
  if (mode === "MODE_DEMO") return `${shortAmount(minimum)} – ${amount(maximum, mode)}`;
  return `${amountText(minimum)} – ${amountText(maximum)}`;
}
