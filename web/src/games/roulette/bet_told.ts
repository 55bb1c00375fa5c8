// A place or a call bet in words: what it is, what it covers, what it pays, what may lie there.
import type { Mode } from "../../api/messages";
import { amount, type Cents, cents, leading } from "../../words/money";
import type { CallBet, Place } from "./bets";
import { oddsOf } from "./call_bet_odds";
import type { Felt } from "./felt";
import { placeName } from "./place_words";
import { words } from "./words";

export interface BetTold {
  name: string;
  /** None where the name is the number. */
  numbers: string;
  /** Prize, limits; of a call bet units and their total too. */
  terms: readonly string[];
}

// As many numbers are read at a glance; of more only the count says something.
const READ = 12;

export function betTold(felt: Felt, name: string): BetTold | null {
  const say = words();
  const mode = felt.table.mode.value;
  const callBet = felt.callBets.get(name);
  if (callBet) return callBetTold(callBet, felt.places, felt.chosen.value.value, mode);
  const place = felt.places.get(name);
  if (!place) return null;
  const least = amount(cents(place.minimum_cents), mode);
  const most = amount(cents(place.maximum_cents), mode);
  const terms = [say.prize(place.prize_halves), say.limits(least, most)];
  const others = felt.others.marks.value.get(name);
  if (others) terms.push(say.others(others.players, amount(others.cents, mode)));
  return { name: placeName(name), numbers: place.numbers.length > 1 ? listed(place.numbers) : "", terms };
}

/** A call bet's numbers have nothing else in common: every one of them is told. */
export function callBetTold(bet: CallBet, places: ReadonlyMap<string, Place>, unit: Cents, mode: Mode): BetTold {
  const say = words();
  const { numbers, leastHalves, mostHalves, leastUnit, mostUnit } = oddsOf(bet, places);
  const [least, most] = [(unit * leastHalves) / 2, (unit * mostHalves) / 2];
  const cost = say.unitsOf(bet.units, amount(unit, mode), amount(unit * bet.units, mode));
  const prize =
    least === most ? say.prizeOf(amount(most, mode)) : say.prizeFromTo(leading(least, mode), amount(most, mode));
  const limits = say.limitsOfUnit(leading(leastUnit, mode), amount(mostUnit, mode));
  return { name: placeName(bet.place), numbers: numbers.join(", "), terms: [cost, prize, limits] };
}

/** What a screen reader hears of a call bet, before anything is bet. */
export function callBetHeard(bet: CallBet, places: ReadonlyMap<string, Place>, unit: Cents, mode: Mode): string {
  const { name, numbers, terms } = callBetTold(bet, places, unit, mode);
  return `${name}: ${numbers}; ${terms.join("; ")}`;
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
