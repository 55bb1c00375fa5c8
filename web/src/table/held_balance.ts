// Whether the balance is shown as it was: what a round brought is told by the table first, once it is there to see.
import { signal } from "@preact/signals";

export const heldBack = signal(false);
