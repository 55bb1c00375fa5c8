// A table's limits in short.
import type { TableConfiguration } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents, cents, shortAmount } from "../../../words/money";
import type { Kind, SpecificRules } from "../layout/messages";

const limitsWords = dictionary(
  { euros: (whole: string) => `${whole}\u00a0€` },
  { euros: (whole: string) => `€${whole}` },
);

// The most that the regulation allows on a place of each kind, as a multiple of the minimum (804/2015:11, 807/2015:12).
const CEILINGS: Readonly<Record<Exclude<Kind, "KIND_UNSPECIFIED">, number>> = {
  KIND_STRAIGHT: 30,
  KIND_SPLIT: 60,
  KIND_STREET: 90,
  KIND_CORNER: 120,
  KIND_SIX_LINE: 180,
  KIND_DOZEN: 360,
  KIND_COLUMN: 360,
  KIND_DOUBLE_DOZEN: 720,
  KIND_DOUBLE_COLUMN: 720,
  KIND_EVEN: 540,
  KIND_ODD: 540,
  KIND_LOW: 540,
  KIND_HIGH: 540,
  KIND_RED: 540,
  KIND_BLACK: 540,
};

/** The minimum of a bet, and the highest maximum of a place: `1 € – 720 €`. */
export function limitsText(configuration: TableConfiguration): string {
  const rules = (configuration.rules ?? {}) as SpecificRules;
  const lowered = new Map<string, number>(rules.maxima?.map(({ kind, times_minimum }) => [kind, times_minimum]));
  const minimum = cents(rules.minimum_cents);
  const times = Object.entries(CEILINGS)
    .filter(([kind]) => !(rules.without_doubles && kind.startsWith("KIND_DOUBLE")))
    .map(([kind, ceiling]) => Math.min(ceiling, lowered.get(kind) ?? ceiling));
  const total = cents(rules.total_maximum_cents) || Number.POSITIVE_INFINITY;
  const maximum = Math.min(minimum * Math.max(...times), total);
  const { mode } = configuration;
  if (mode === "MODE_DEMO") return `${shortAmount(minimum)} – ${amount(maximum, mode)}`;
  const amountText = (value: Cents) => (value % 100 ? amount(value, mode) : limitsWords().euros(shortAmount(value)));
  return `${amountText(minimum)} – ${amountText(maximum)}`;
}
