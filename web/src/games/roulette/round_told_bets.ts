// What a player had on the board in a past round, place by place, and what each came to.
import type { Any, PlayerRound, TableConfiguration } from "../../api/messages";
import type { components } from "../../api/schema";
import { type Cents, cents } from "../../words/money";
import type { Outcome, SpecificRules } from "./outcome_words";
import { type PocketOnWheel, pocketsOf, type WheelName } from "./pockets";

type Schemas = components["schemas"];

export interface ToldBet {
  place: string;
  staked: Cents;
  /** What came back, the stake included; null while the round is not settled. */
  payout: Cents | null;
  prize: Cents | null;
}

/** In the order of placing; what was put on a place in several goes is one bet. */
export function betsTold(round: PlayerRound): ToldBet[] {
  const told = new Map<string, ToldBet>();
  const add = (bet: ToldBet) => {
    const known = told.get(bet.place);
    const sum = (one: Cents | null, other: Cents | null) => (one === null || other === null ? null : one + other);
    told.set(
      bet.place,
      known
        ? {
            place: bet.place,
            staked: known.staked + bet.staked,
            payout: sum(known.payout, bet.payout),
            prize: sum(known.prize, bet.prize),
          }
        : bet,
    );
  };
  for (const { bets, results } of round.stakes) {
    if (results) {
      for (const each of (results as Any & Schemas["roulette.v1.BetResults"]).results) {
        const [staked, payout, prize] = [cents(each.amount_cents), cents(each.payout_cents), cents(each.prize_cents)];
        add({ place: each.place, staked, payout, prize });
      }
    } else if (bets) {
      for (const each of (bets as Any & Schemas["roulette.v1.Bets"]).bets) {
        add({ place: each.place, staked: cents(each.amount_cents), payout: null, prize: null });
      }
    }
  }
  return [...told.values()];
}

/** The wheel that was played on: the one on which the number lies where it was drawn. */
export function wheelPlayed(round: PlayerRound, configuration?: TableConfiguration): readonly PocketOnWheel[] {
  const configured = (configuration?.rules as SpecificRules | undefined)?.wheel;
  const possible: WheelName[] =
    round.regulation === "807/2015" ? ["WHEEL_FRENCH"] : ["WHEEL_AMERICAN_37", "WHEEL_AMERICAN_38"];
  // The table may have had another wheel then: the configuration is today's.
  if (configured && possible.includes(configured)) possible.unshift(configured);
  const drawn = round.round?.outcome as Partial<Outcome> | undefined;
  const fits = (name: WheelName) => {
    const pockets = pocketsOf(name);
    const lies = !drawn?.number || pockets[drawn.pocket ?? 0]?.number === drawn.number;
    const covers = betsTold(round).every(({ place }) => !place.split("-").includes("00")) || pockets.length === 38;
    return lies && covers;
  };
  return pocketsOf(possible.find(fits) ?? possible[0]);
}
