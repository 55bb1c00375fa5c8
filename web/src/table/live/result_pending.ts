// Whether a result is still being shown, so that the balance and other texts must not reveal it. The table's game sets it;
// true until it does.
import { signal } from "@preact/signals";

export const resultPending = signal(true);
