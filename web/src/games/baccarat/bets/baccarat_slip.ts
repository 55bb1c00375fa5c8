// Baccarat's slip: its methods, and the limits of its chances.
import type { MethodName, Params, Result } from "../../../api/messages";
import { Refusal } from "../../../api/refusal";
import type { BettingRules } from "../../../bets/bet_slip";
import { addBets, type PlacedBets } from "../../../bets/bets";
import { type Cents, cents } from "../../../words/money";
import type { ChanceOnTable, Layout } from "../layout/messages";

export type Call = <M extends MethodName>(method: M, params: Params<M>) => Promise<Result<M>>;

export function bettingRules(table_id: string, layout: Layout, call: Call): BettingRules {
  const chances = new Map(layout.chances.map((chance) => [chance.place, chance]));
  const minimum = Math.min(...layout.chances.map(({ minimum_cents }) => cents(minimum_cents)));
  return {
    place: (command) => call("BaccaratService.PlaceBets", { table_id, ...command }),
    repeat: (command) => call("BaccaratService.RepeatBets", { table_id, ...command }),
    takeBack: (command) => call("BaccaratService.CancelBets", { table_id, ...command }),
    start: (round_id) => call("BaccaratService.Deal", { table_id, round_id }),
    refusalFor: (added, onFelt) => limitRefusal(chances, minimum, added, onFelt),
  };
}

/** The limits of the whole table, in Macau, are the platform's alone to judge: they depend on everybody's bets. */
function limitRefusal(
  chances: ReadonlyMap<string, ChanceOnTable>,
  minimum: Cents,
  added: PlacedBets,
  onFelt: PlacedBets,
): Refusal | null {
  for (const [name, value] of added) {
    const chance = chances.get(name);
    if (!chance) return new Refusal("BET_NOT_OFFERED", { place: name }, "", "Not offered.");
    const { minimum_cents, maximum_cents, step_cents } = chance;
    const facts = { place: name, amount_cents: String(value), minimum_cents, maximum_cents, step_cents };
    if (value < cents(minimum_cents)) return new Refusal("BELOW_MINIMUM", facts, "", "Below the minimum.");
    if (value % Math.max(1, cents(step_cents))) return new Refusal("OFF_STEP", facts, "", "Off the step.");
    const highest = cents(maximum_cents) || Number.POSITIVE_INFINITY;
    if ((onFelt.get(name) ?? 0) + value > highest) {
      return new Refusal("ABOVE_MAXIMUM", facts, "", "Above the maximum.");
    }
  }
  return tooClose(addBets(onFelt, added), minimum);
}

/** Bets on both sides differ by the minimum at least (812/2015:13). */
function tooClose(bets: PlacedBets, minimum: Cents): Refusal | null {
  const [ponto, banca] = [bets.get("ponto") ?? 0, bets.get("banca") ?? 0];
  if (!ponto || !banca || Math.abs(ponto - banca) >= minimum) return null;
  const facts = { ponto_cents: String(ponto), banca_cents: String(banca), difference_cents: String(minimum) };
  return new Refusal("BETS_TOO_CLOSE", facts, "", "Too close.");
}
