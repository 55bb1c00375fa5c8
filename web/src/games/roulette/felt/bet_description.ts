// Describes a place or a call bet in words: name, numbers, prize and limits.
import type { Mode } from "../../../api/messages";
import { amount, type Cents, cents, rangeStart } from "../../../words/money";
import { callBetOdds } from "../bets/call_bet_odds";
import type { CallBet, Place } from "../layout/messages";
import { placeName } from "../words/place_names";
import { rouletteWords } from "../words/table_words";
import type { Felt } from "./felt";

export interface BetDescription {
  name: string;
  /** Empty where the name is the number. */
  numbers: string;
  /** Prize and limits; for a call bet its units and their total too. */
  terms: readonly string[];
}

// As many numbers are read at a glance; of more, the count says enough.
const READ = 12;

export function describeBet(felt: Felt, name: string): BetDescription | null {
  const words = rouletteWords();
  const mode = felt.table.mode.value;
  const callBet = felt.callBets.get(name);
  if (callBet) return describeCallBet(callBet, felt.places, felt.chosenChip.value.value, mode);
  const place = felt.places.get(name);
  if (!place) return null;
  const least = amount(cents(place.minimum_cents), mode);
  const most = amount(cents(place.maximum_cents), mode);
  const terms = [words.prize(place.prize_halves), words.limits(least, most)];
  const others = felt.otherBets.marks.value.get(name);
  if (others) terms.push(words.others(others.players, amount(others.cents, mode)));
  return { name: placeName(name), numbers: place.numbers.length > 1 ? numberList(place.numbers) : "", terms };
}

/** Lists every number of a call bet, since they have nothing else in common. */
export function describeCallBet(
  bet: CallBet,
  places: ReadonlyMap<string, Place>,
  unit: Cents,
  mode: Mode,
): BetDescription {
  const words = rouletteWords();
  const { numbers, leastHalves, mostHalves, leastUnit, mostUnit } = callBetOdds(bet, places);
  const [least, most] = [(unit * leastHalves) / 2, (unit * mostHalves) / 2];
  const cost = words.unitsOf(bet.units, amount(unit, mode), amount(unit * bet.units, mode));
  const prize =
    least === most ? words.prizeOf(amount(most, mode)) : words.prizeFromTo(rangeStart(least, mode), amount(most, mode));
  const limits = words.limitsOfUnit(rangeStart(leastUnit, mode), amount(mostUnit, mode));
  return { name: placeName(bet.place), numbers: numbers.join(", "), terms: [cost, prize, limits] };
}

/** The accessible name of a call bet's button. */
export function callBetLabel(bet: CallBet, places: ReadonlyMap<string, Place>, unit: Cents, mode: Mode): string {
  const { name, numbers, terms } = describeCallBet(bet, places, unit, mode);
  return `${name}: ${numbers}; ${terms.join("; ")}`;
}

/** The accessible name of a place: `Cavalo 17-20, paga 17 para 1; na mesa 5 €`. */
export function placeLabel(felt: Felt, name: string, onFelt: number, pending: number, mode: Mode): string {
  const words = rouletteWords();
  const place = felt.places.get(name);
  const stakes = [
    ...(onFelt ? [words.onTable(amount(onFelt, mode))] : []),
    ...(pending ? [words.waiting(amount(pending, mode))] : []),
  ];
  const nameAndPrize = `${placeName(name)}, ${place ? words.prize(place.prize_halves) : ""}`;
  return stakes.length ? `${nameAndPrize}; ${stakes.join(", ")}` : nameAndPrize;
}

function numberList(numbers: readonly string[]): string {
  return numbers.length > READ ? rouletteWords().howMany(numbers.length) : numbers.join(", ");
}
