// Amounts on the table, where there is little room: euros with their sign, credits and chips without a unit.
import { amount, type Cents, count, shortAmount, type Unit } from "../../../words/money";

/** `12,50 €`; of credits `12,5`, of chips `1 250`. */
export function tableAmount(value: Cents, mode: Unit): string {
  if (mode === "CHIPS") return count(value);
  return mode === "MODE_DEMO" ? shortAmount(value) : amount(value, mode);
}
