// Which chips a table offers, and how an amount is stacked from them.
import type { Cents } from "../words/money";

// Multiples of the minimum, so that each chip is a legal bet. Every colour keeps its rank, so that players learn it.
const MULTIPLES = [1, 2, 5, 10, 25, 100, 500] as const;

/** In ascending order; `colour` is the rank that decides the look. */
export interface Chip {
  value: Cents;
  colour: number;
}

/** The chips of a table, up to the highest maximum of a place. */
export function chipSet(minimum: Cents, highest: Cents): readonly Chip[] {
  return MULTIPLES.map((times, colour) => ({ value: minimum * times, colour })).filter(
    ({ value }) => value <= Math.max(minimum, highest),
  );
}

/** The fewest chips for an amount, largest first; a rest that no chip makes counts as one of the smallest. */
export function chipStack(amount: Cents, chips: readonly Chip[]): Chip[] {
  const stack: Chip[] = [];
  let rest = amount;
  for (const chip of [...chips].reverse()) {
    while (rest >= chip.value) {
      stack.push(chip);
      rest -= chip.value;
    }
  }
  const smallest = chips[0];
  if (smallest && (rest > 0 || stack.length === 0)) stack.push(smallest);
  return stack;
}
