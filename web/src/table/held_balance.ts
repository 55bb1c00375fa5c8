// Whether the balance is shown as it was: what a round brought is told by the table first, once it is there to see.
// A table's game says when that is; before it has said anything nothing is known to be seen.
import { signal } from "@preact/signals";

export const heldBack = signal(true);
