// Announces accepted bets to screen readers (WCAG 4.1.3): the amount on the place, and in all.
import { effect, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Mode } from "../api/messages";
import type { BetSlip } from "../bets/bet_slip";
import { type PlacedBets, totalOf } from "../bets/bets";
import { amount } from "../words/money";
import { trayWords } from "./words";

// Several chips in quick succession are announced together.
const AFTER_MS = 400;

/** The returned function stops announcing. */
export function announceOwnBets(
  slip: BetSlip,
  mode: ReadonlySignal<Mode>,
  announcement: Signal<string>,
  placeName: (place: string) => string,
): () => void {
  let announced = slip.accepted.peek();
  let round = slip.round.peek();
  return effect(() => {
    const [accepted, open] = [slip.accepted.value, slip.round.value];
    if (open !== round || !open) {
      // What lies there when a round opens, and after it, was announced before.
      [announced, round] = [accepted, open];
      announcement.value = "";
      return;
    }
    const timer = setTimeout(() => {
      const changed = changedPlaces(announced, accepted);
      announced = accepted;
      if (changed.length) announcement.value = announcementText(mode.value, changed, accepted, placeName);
    }, AFTER_MS);
    return () => clearTimeout(timer);
  });
}

function changedPlaces(before: PlacedBets, now: PlacedBets): string[] {
  return [...new Set([...before.keys(), ...now.keys()])].filter((place) => before.get(place) !== now.get(place));
}

function announcementText(
  mode: Mode,
  [place, ...more]: readonly string[],
  accepted: PlacedBets,
  placeName: (place: string) => string,
): string {
  const all = trayWords().onTable(amount(totalOf(accepted), mode));
  if (place === undefined || more.length) return all;
  return `${placeName(place)}: ${amount(accepted.get(place) ?? 0, mode)}; ${all}`;
}
