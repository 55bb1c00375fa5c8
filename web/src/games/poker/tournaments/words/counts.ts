// Counts and chips in words. Chips have no money value: they never look like an amount of money.
import { language } from "../../../../words/language";

/** `12 500`. */
export function countText(value: number | string): string {
  return new Intl.NumberFormat(language.value === "pt" ? "pt-PT" : "en-GB", { useGrouping: "always" }).format(
    Number(value),
  );
}
