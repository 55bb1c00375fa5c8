// Chips that come to count are told to those who do not see them (WCAG 4.1.3): how much lies on the place, and in all.
import { effect } from "@preact/signals";
import { amount } from "../../words/money";
import { type Laid, total } from "./bets";
import type { Felt } from "./felt";
import { placeName } from "./place_words";
import { words } from "./words";

// Several chips in quick succession are told at once.
const AFTER_MS = 400;

/** What is returned ends it. */
export function sayOwnBets(felt: Felt): () => void {
  let known = felt.slip.felt.peek();
  let round = felt.slip.round.peek();
  return effect(() => {
    const [lying, open] = [felt.slip.felt.value, felt.slip.round.value];
    if (open !== round || !open) {
      // What lies there as a round opens, and after it, was put there before.
      [known, round] = [lying, open];
      felt.said.value = "";
      return;
    }
    const saying = setTimeout(() => {
      const changed = changedPlaces(known, lying);
      known = lying;
      if (changed.length) felt.said.value = told(felt, changed, lying);
    }, AFTER_MS);
    return () => clearTimeout(saying);
  });
}

function changedPlaces(before: Laid, now: Laid): string[] {
  return [...new Set([...before.keys(), ...now.keys()])].filter((place) => before.get(place) !== now.get(place));
}

function told(felt: Felt, [place, ...more]: readonly string[], lying: Laid): string {
  const mode = felt.table.mode.value;
  const all = words().onTable(amount(total(lying), mode));
  if (place === undefined || more.length) return all;
  return `${placeName(place)}: ${amount(lying.get(place) ?? 0, mode)}; ${all}`;
}
