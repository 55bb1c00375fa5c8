// A table's limits in short.
import type { TableConfiguration } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents, cents, shortAmount } from "../../../words/money";
import type { SpecificRules } from "../messages/messages";

const limitsWords = dictionary(
  { euros: (whole: string) => `${whole}\u00a0€` },
  { euros: (whole: string) => `€${whole}` },
);

/** The least and the most on a place: `5 € – 500 €`. */
export function limitsText({ rules, mode }: TableConfiguration): string {
  const { minimum_cents, maximum_cents } = (rules ?? {}) as SpecificRules;
  const [minimum, maximum] = [cents(minimum_cents), cents(maximum_cents)];
  if (mode === "MODE_DEMO") return `${shortAmount(minimum)} – ${amount(maximum, mode)}`;
  const amountText = (value: Cents) => (value % 100 ? amount(value, mode) : limitsWords().euros(shortAmount(value)));
  return `${amountText(minimum)} – ${amountText(maximum)}`;
}
