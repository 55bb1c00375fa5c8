// Amounts on the table, where there is little room: euros with their sign, credits without a unit.
import type { Mode } from "../../../api/messages";
import { amount, type Cents, shortAmount } from "../../../words/money";

/** `12,50 €`; of credits `12,5`. */
export function tableAmount(value: Cents, mode: Mode): string {
  return mode === "MODE_DEMO" ? shortAmount(value) : amount(value, mode);
}
