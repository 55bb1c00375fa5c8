// Bets by place, and their conversion from and to the platform's messages.
import type { Any } from "../api/messages";
import { type Cents, cents } from "../words/money";

/** Amounts by place, in cents; a place without a bet is absent. */
export type PlacedBets = ReadonlyMap<string, Cents>;

export const NO_BETS: PlacedBets = new Map();

export interface BetsMessage {
  bets?: readonly { place: string; amount_cents: string }[];
}

/** The bets of a game's `Bets`, on its own or within an Any. */
export function betsFromMessage(message: BetsMessage | Any | undefined): PlacedBets {
  const bets = (message as BetsMessage | undefined)?.bets ?? [];
  return sumBets(bets.map(({ place, amount_cents }) => [place, cents(amount_cents)]));
}

export function sumBets(bets: Iterable<readonly [string, Cents]>): PlacedBets {
  const places = new Map<string, Cents>();
  for (const [place, value] of bets) places.set(place, (places.get(place) ?? 0) + value);
  return places;
}

export function addBets(one: PlacedBets, other: PlacedBets): PlacedBets {
  return sumBets([...one, ...other]);
}

/** What is left of `one`; never below zero. */
export function subtractBets(one: PlacedBets, other: PlacedBets): PlacedBets {
  const left = new Map(one);
  for (const [place, value] of other) {
    const rest = (left.get(place) ?? 0) - value;
    if (rest > 0) left.set(place, rest);
    else left.delete(place);
  }
  return left;
}

/** What both hold. */
export function commonBets(one: PlacedBets, other: PlacedBets): PlacedBets {
  return subtractBets(one, subtractBets(one, other));
}

export function containsBets(one: PlacedBets, other: PlacedBets): boolean {
  return [...other].every(([place, value]) => (one.get(place) ?? 0) >= value);
}

export function equalBets(one: PlacedBets, other: PlacedBets): boolean {
  return one.size === other.size && [...one].every(([place, value]) => other.get(place) === value);
}

export function totalOf(bets: PlacedBets): Cents {
  let all = 0;
  for (const value of bets.values()) all += value;
  return all;
}

/** As the platform's methods take them. */
export function betsMessage(bets: PlacedBets): { place: string; amount_cents: string }[] {
  return [...bets].map(([place, value]) => ({ place, amount_cents: String(value) }));
}
