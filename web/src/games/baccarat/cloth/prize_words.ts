// What a chance pays, and its limits, in words.
import type { Mode } from "../../../api/messages";
import { amount, cents, rangeStart, shortAmount } from "../../../words/money";
import type { ChanceOnTable, SpecificRules } from "../layout/messages";
import { baccaratWords } from "../words/table_words";

/** `1 : 1`, `8 : 1`. */
export function prizeSign({ prize }: ChanceOnTable): string {
  return `${prize} : 1`;
}

/** What is deducted from a prize; empty where nothing is (812/2015:26). */
export function commissionText(place: string, rules: SpecificRules | undefined): string {
  if (place !== "banca") return "";
  const words = baccaratWords();
  if (rules?.commission === "COMMISSION_FIVE_PERCENT") return words.commission(5);
  if (rules?.commission === "COMMISSION_HALF_ON_SCORE") return words.halved(rules.half_scores.join(words.or));
  return "";
}

/** `paga 1 para 1, comissão de 5 %`. */
export function prizeText(chance: ChanceOnTable, rules: SpecificRules | undefined): string {
  return [baccaratWords().pays(String(chance.prize)), commissionText(chance.place, rules)].filter(Boolean).join(", ");
}

/** For tight places: `1–70 €`; without a maximum `desde 1 €`. Credits need no unit. */
export function limitsSign(chance: ChanceOnTable, mode: Mode): string {
  const words = baccaratWords();
  const [least, most] = [chance.minimum_cents, chance.maximum_cents].map((each) => shortAmount(cents(each)));
  const range = cents(chance.maximum_cents) ? `${least}–${most}` : words.noMaximum(least ?? "");
  return mode === "MODE_DEMO" ? range : words.euros(range);
}

/** `1,00 a 70,00 €`; without a maximum `desde 1,00 €`. */
export function limitsOf(chance: ChanceOnTable, mode: Mode): string {
  const words = baccaratWords();
  const [least, most] = [cents(chance.minimum_cents), cents(chance.maximum_cents)];
  return most ? words.limits(rangeStart(least, mode), amount(most, mode)) : words.noMaximum(amount(least, mode));
}
