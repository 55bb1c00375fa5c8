// What a call bet covers and may pay, from its components (807/2015:9): each pays by itself, and one number is drawn.
import { type Cents, cents } from "../../../words/money";
import type { CallBet, Place } from "../layout/messages";
import { callBetComponents } from "./roulette_slip";

export interface CallBetOdds {
  /** In ascending order. */
  numbers: readonly string[];
  /** The prize beyond the winning stakes, for the worst and for the best of the numbers, in halves of a unit. */
  leastHalves: number;
  mostHalves: number;
  /** The bounds of a unit, so that every component is within its place's minimum and maximum. */
  leastUnit: Cents;
  mostUnit: Cents;
}

export function callBetOdds(bet: CallBet, places: ReadonlyMap<string, Place>): CallBetOdds {
  const halves = new Map<string, number>();
  let [leastUnit, mostUnit] = [0, Number.POSITIVE_INFINITY];
  for (const [name, units] of callBetComponents(bet, 1)) {
    const place = places.get(name);
    if (!place) continue;
    leastUnit = Math.max(leastUnit, Math.ceil(cents(place.minimum_cents) / units));
    mostUnit = Math.min(mostUnit, Math.floor(cents(place.maximum_cents) / units));
    for (const number of place.numbers) halves.set(number, (halves.get(number) ?? 0) + units * place.prize_halves);
  }
  return {
    numbers: [...halves.keys()].sort((one, other) => Number(one) - Number(other)),
    leastHalves: Math.min(...halves.values()),
    mostHalves: Math.max(...halves.values()),
    leastUnit,
    mostUnit,
  };
}
