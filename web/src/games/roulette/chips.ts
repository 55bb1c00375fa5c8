// Which chips a table has, after its minimum, and how an amount is stacked of them.
import type { Cents } from "../../words/money";

// Each is a bet by itself: none is below the minimum. Every colour keeps its rank, so that one learns them.
const TIMES = [1, 2, 5, 10, 25, 100, 500] as const;

/** From the smallest; `colour` is the rank that its look goes by. */
export interface Chip {
  value: Cents;
  colour: number;
}

/** The chips of a table; none that would be more than the most one may ever lay on one place. */
export function chipsOf(minimum: Cents, highest: Cents): readonly Chip[] {
  return TIMES.map((times, colour) => ({ value: minimum * times, colour })).filter(
    ({ value }) => value <= Math.max(minimum, highest),
  );
}

/** An amount in as few chips as it takes, largest first; a rest that no chip makes counts as one of the smallest. */
export function stacked(amount: Cents, chips: readonly Chip[]): Chip[] {
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
