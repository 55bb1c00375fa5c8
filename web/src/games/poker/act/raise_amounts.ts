// What a raise to a part of the pot is, in cents; never outside of what the platform says is legal.
import type { Cents } from "../../../words/money";
import { clamp } from "../amounts/amount_steps";

/** What the player in turn faces. */
export interface RaiseSituation {
  /** What the player has bet in this betting round. */
  bet_cents: Cents;
  to_call_cents: Cents;
  /** Everything in the middle, the bets of this betting round included. */
  total_cents: Cents;
  /** What the bet may become, at least and at most (806/2015:24). */
  min_to_cents: Cents;
  max_to_cents: Cents;
}

export type PotPart = "third" | "half" | "two_thirds" | "pot" | "max";

const PARTS: Readonly<Record<Exclude<PotPart, "max">, readonly [of: number, parts: number]>> = {
  third: [1, 3],
  half: [1, 2],
  two_thirds: [2, 3],
  pot: [1, 1],
};

export const POT_PARTS: readonly PotPart[] = ["third", "half", "two_thirds", "pot", "max"];

/** What the bet becomes by a raise to a part of the pot: the player calls, and raises by the part of what lies there then. */
export function raiseTo(part: PotPart, situation: RaiseSituation): Cents {
  const { bet_cents, to_call_cents, total_cents, min_to_cents, max_to_cents } = situation;
  if (part === "max") return max_to_cents;
  const [of, parts] = PARTS[part];
  const raise = Math.floor(((total_cents + to_call_cents) * of) / parts);
  const wanted = bet_cents + to_call_cents + raise;
  return clamp(wanted, { minimum_cents: min_to_cents, maximum_cents: max_to_cents });
}

export function canRaise({ max_to_cents }: Pick<RaiseSituation, "max_to_cents">): boolean {
  return max_to_cents > 0;
}
