// Blackjack's part of the bet slip: its methods, and its limits, which hold for each place (805/2015:7, 9).
import type { MethodName, Params, Result } from "../../../api/messages";
import { Refusal } from "../../../api/refusal";
import type { BetSlipPorts, BetsCommand, BettingRules, PlacementAnswer } from "../../../bets/bet_slip";
import { BetSlip } from "../../../bets/bet_slip";
import { betsMessage, type PlacedBets } from "../../../bets/bets";
import { cents } from "../../../words/money";
import type { SpecificRules } from "../messages/messages";

interface Ports extends BetSlipPorts {
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  /** The bets of the player's last round here. */
  lastBets(): PlacedBets;
  /** Whether another player has the place. */
  taken(place: number): boolean;
}

export function blackjackSlip(table_id: string, rules: SpecificRules, ports: Ports): BetSlip {
  const place = ({ round_id, request_id, bets }: BetsCommand): Promise<PlacementAnswer> =>
    ports.call("BlackjackService.PlaceBets", { table_id, round_id, request_id, bets });
  const betting: BettingRules = {
    place,
    repeat: async ({ round_id, request_id }) => {
      let answer: PlacementAnswer = {};
      // A command bets on one place.
      for (const [index, bet] of betsMessage(ports.lastBets()).entries()) {
        answer = await place({ round_id, request_id: index ? ports.requestId() : request_id, bets: [bet] });
      }
      return answer;
    },
    takeBack: (command) => ports.call("BlackjackService.CancelBets", { table_id, ...command }),
    start: async (round_id) => {
      await ports.call("BlackjackService.Deal", { table_id, round_id });
      return {};
    },
    refusalFor: (added, onFelt) => refusalFor(rules, ports.taken, added, onFelt),
    onePlaceEach: true,
  };
  return new BetSlip(betting, ports);
}

/** Why the table refuses these bets beside those on the felt, as far as the page knows. */
export function refusalFor(
  rules: SpecificRules,
  taken: (place: number) => boolean,
  added: PlacedBets,
  onFelt: PlacedBets,
): Refusal | null {
  const [minimum_cents, maximum_cents] = [rules.minimum_cents ?? "0", rules.maximum_cents ?? "0"];
  for (const [place, value] of added) {
    if (taken(Number(place))) return new Refusal("PLACE_TAKEN", { place }, "", "Taken.");
    const total = value + (onFelt.get(place) ?? 0);
    const facts = { place, amount_cents: String(total), minimum_cents, maximum_cents };
    if (total < cents(minimum_cents)) return new Refusal("BELOW_MINIMUM", facts, "", "Below the minimum.");
    if (total > cents(maximum_cents)) return new Refusal("ABOVE_MAXIMUM", facts, "", "Above the maximum.");
  }
  const places = new Set([...added.keys(), ...onFelt.keys()]).size;
  const limit = rules.places_per_player || 1;
  if (places > limit) {
    return new Refusal("TOO_MANY_PLACES", { places: String(places), limit: String(limit) }, "", "Too many places.");
  }
  return null;
}
