// Counts as the platform tells them: 64-bit numbers come as text.
import { count } from "../../../../words/money";

/** `12 500`. */
export function countText(value: number | string): string {
  return count(Number(value));
}
