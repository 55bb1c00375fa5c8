// The stops of a slider between two amounts: both ends are among them, whatever the step is.
import type { Cents } from "../../../words/money";
import type { Range } from "./typed_amount";

// Finer steps cannot be told apart on a slider.
const MOST_STOPS = 400;

/** The step that is wanted, or a multiple of it where the range is too wide for so many stops. */
export function stepOf({ minimum_cents, maximum_cents }: Range, wanted_cents: Cents): Cents {
  const least = Math.max(1, wanted_cents);
  return least * Math.max(1, Math.ceil((maximum_cents - minimum_cents) / least / MOST_STOPS));
}

export function stopCount({ minimum_cents, maximum_cents }: Range, step_cents: Cents): number {
  return Math.ceil((maximum_cents - minimum_cents) / step_cents) + 1;
}

export function amountAt(range: Range, step_cents: Cents, stop: number): Cents {
  return clamp(range.minimum_cents + stop * step_cents, range);
}

/** The stop at an amount, or the nearest one to it. */
export function stopAt(range: Range, step_cents: Cents, cents: Cents): number {
  if (cents >= range.maximum_cents) return stopCount(range, step_cents) - 1;
  return Math.max(0, Math.round((cents - range.minimum_cents) / step_cents));
}

export function clamp(cents: Cents, { minimum_cents, maximum_cents }: Range): Cents {
  return Math.min(maximum_cents, Math.max(minimum_cents, cents));
}
