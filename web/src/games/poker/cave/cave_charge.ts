// What filling a cave costs, where the table takes its commission on caves (806/2015:17.b).
import { type Cents, cents } from "../../../words/money";
import type { SpecificRules } from "../messages/messages";

export interface CaveCharge {
  /** What leaves the account. */
  debit_cents: Cents;
  /** What comes into the cave. */
  chips_cents: Cents;
  commission_cents: Cents;
}

// The default of such a table.
const DEFAULT_BPS = 1000;
const WHOLE_BPS = 10_000;
// The least that is lawful is 5 %.
const LEAST_PART = 20;

export function caveCharge(rules: SpecificRules, amount_cents: Cents): CaveCharge {
  if (rules.commission_mode !== "COMMISSION_MODE_CAVE") {
    return { debit_cents: amount_cents, chips_cents: amount_cents, commission_cents: 0 };
  }
  const bps = cents(rules.commission_bps) || DEFAULT_BPS;
  const commission_cents = Math.max(Math.floor((amount_cents * bps) / WHOLE_BPS), Math.ceil(amount_cents / LEAST_PART));
  if (rules.commission_out_of_cave) {
    return { debit_cents: amount_cents, chips_cents: amount_cents - commission_cents, commission_cents };
  }
  return { debit_cents: amount_cents + commission_cents, chips_cents: amount_cents, commission_cents };
}
