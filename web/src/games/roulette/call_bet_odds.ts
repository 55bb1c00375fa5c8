// What a call bet covers and may bring, from its components (807/2015:9): each pays by itself, and only one number is drawn.
import { type Cents, cents } from "../../words/money";
import { type CallBet, components, type Place } from "./bets";

export interface CallBetOdds {
  /** As they rise. */
  numbers: readonly string[];
  /** The prize, beyond the stakes that won, for the least and for the luckiest of the numbers: halves of a unit. */
  leastHalves: number;
  mostHalves: number;
  /** What one unit may be, so that no component is below its place's minimum or above its maximum. */
  leastUnit: Cents;
  mostUnit: Cents;
}

export function oddsOf(bet: CallBet, places: ReadonlyMap<string, Place>): CallBetOdds {
  const halves = new Map<string, number>();
  let [leastUnit, mostUnit] = [0, Number.POSITIVE_INFINITY];
  for (const [name, units] of components(bet, 1)) {
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
