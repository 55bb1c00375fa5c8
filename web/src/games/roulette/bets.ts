// Chips by place, and how the platform's messages become them.
import type { Any, Result } from "../../api/messages";
import { type Cents, cents } from "../../words/money";

export type Layout = Result<"RouletteService.GetLayout">;
export type Place = Layout["places"][number];
export type CallBet = Layout["call_bets"][number];

/** What lies where, in cents. A place where nothing lies is not in it. */
export type Laid = ReadonlyMap<string, Cents>;

export const NOTHING: Laid = new Map();

interface Bets {
  bets?: readonly { place: string; amount_cents: string }[];
}

/** What a `roulette.v1.Bets` says, on its own or within an Any. */
export function laid(message: Bets | Any | undefined): Laid {
  const bets = (message as Bets | undefined)?.bets ?? [];
  return sum(bets.map(({ place, amount_cents }) => [place, cents(amount_cents)]));
}

export function sum(bets: Iterable<readonly [string, Cents]>): Laid {
  const places = new Map<string, Cents>();
  for (const [place, value] of bets) places.set(place, (places.get(place) ?? 0) + value);
  return places;
}

export function plus(one: Laid, other: Laid): Laid {
  return sum([...one, ...other]);
}

/** What is left of `one`; never less than nothing. */
export function minus(one: Laid, other: Laid): Laid {
  const left = new Map(one);
  for (const [place, value] of other) {
    const rest = (left.get(place) ?? 0) - value;
    if (rest > 0) left.set(place, rest);
    else left.delete(place);
  }
  return left;
}

export function holds(one: Laid, other: Laid): boolean {
  return [...other].every(([place, value]) => (one.get(place) ?? 0) >= value);
}

export function same(one: Laid, other: Laid): boolean {
  return one.size === other.size && [...one].every(([place, value]) => other.get(place) === value);
}

export function total(bets: Laid): Cents {
  let all = 0;
  for (const value of bets.values()) all += value;
  return all;
}

/** As the platform's methods take them. */
export function sent(bets: Laid): { place: string; amount_cents: string }[] {
  return [...bets].map(([place, value]) => ({ place, amount_cents: String(value) }));
}

/** What a call bet puts on the board, for an amount per unit. */
export function components(bet: CallBet, unit: Cents): Laid {
  return sum(bet.components.map(({ place, amount_cents }) => [place, cents(amount_cents) * unit]));
}
