// A place or a call bet in words: what it is, what it covers, what it pays, what may lie there.
import type { Mode } from "../../api/messages";
import { amount, cents } from "../../words/money";
import type { Felt } from "./felt";
import { placeName } from "./place_words";
import { words } from "./words";

export interface BetTold {
  name: string;
  numbers: string;
  /** Prize, limits; or units and their total. */
  terms: readonly string[];
}

// As many numbers are read at a glance; of more only the count says something.
const READ = 12;

export function betTold(felt: Felt, name: string): BetTold | null {
  const say = words();
  const mode = felt.table.mode.value;
  const callBet = felt.callBets.get(name);
  if (callBet) {
    const numbers = callBet.components.flatMap(({ place }) => felt.places.get(place)?.numbers ?? []);
    const unit = felt.chosen.value.value;
    const cost = say.unitsOf(callBet.units, amount(unit, mode), amount(unit * callBet.units, mode));
    return { name: placeName(name), numbers: listed([...new Set(numbers)]), terms: [cost] };
  }
  const place = felt.places.get(name);
  if (!place) return null;
  const least = amount(cents(place.minimum_cents), mode);
  const most = amount(cents(place.maximum_cents), mode);
  const terms = [say.prize(place.prize_halves), say.limits(least, most)];
  const others = felt.others.marks.value.get(name);
  if (others) terms.push(say.others(others.players, amount(others.cents, mode)));
  return { name: placeName(name), numbers: listed(place.numbers), terms };
}

/** What a screen reader hears of a place: `Cavalo 17-20, paga 17 para 1; na mesa 5 €`. */
export function placeHeard(felt: Felt, name: string, onFelt: number, pending: number, mode: Mode): string {
  const say = words();
  const place = felt.places.get(name);
  const lying = [
    ...(onFelt ? [say.onTable(amount(onFelt, mode))] : []),
    ...(pending ? [say.waiting(amount(pending, mode))] : []),
  ];
  const what = `${placeName(name)}, ${place ? say.prize(place.prize_halves) : ""}`;
  return lying.length ? `${what}; ${lying.join(", ")}` : what;
}

function listed(numbers: readonly string[]): string {
  return numbers.length > READ ? words().howMany(numbers.length) : numbers.join(", ");
}
