// A player's bets in a past round, place by place, with what each paid.
import type { Any, PlayerRound, TableConfiguration } from "../../../api/messages";
import type { components } from "../../../api/schema";
import { type Cents, cents } from "../../../words/money";
import type { Outcome, Pocket, SpecificRules, WheelName } from "../layout/messages";
import { pocketsOf } from "../layout/pockets";

type Schemas = components["schemas"];

export interface PastBet {
  place: string;
  staked: Cents;
  /** What came back, the stake included; null while the round is not settled. */
  payout: Cents | null;
  prize: Cents | null;
}

/** In the order of placing; several placements on a place are one bet. */
export function pastBets(round: PlayerRound): PastBet[] {
  const byPlace = new Map<string, PastBet>();
  const add = (bet: PastBet) => {
    const earlier = byPlace.get(bet.place);
    const sum = (one: Cents | null, other: Cents | null) => (one === null || other === null ? null : one + other);
    byPlace.set(
      bet.place,
      earlier
        ? {
            place: bet.place,
            staked: earlier.staked + bet.staked,
            payout: sum(earlier.payout, bet.payout),
            prize: sum(earlier.prize, bet.prize),
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
  return [...byPlace.values()];
}

/** The wheel of the round: the one on which the drawn number lies in the drawn pocket. */
export function playedWheel(round: PlayerRound, configuration?: TableConfiguration): readonly Pocket[] {
  const configured = (configuration?.rules as SpecificRules | undefined)?.wheel;
  const possible: WheelName[] =
    round.regulation === "807/2015" ? ["WHEEL_FRENCH"] : ["WHEEL_AMERICAN_37", "WHEEL_AMERICAN_38"];
  // The configuration is today's: the table may have had another wheel then.
  if (configured && possible.includes(configured)) possible.unshift(configured);
  const drawn = round.round?.outcome as Partial<Outcome> | undefined;
  const fits = (name: WheelName) => {
    const pockets = pocketsOf(name);
    const lies = !drawn?.number || pockets[drawn.pocket ?? 0]?.number === drawn.number;
    const covers = pastBets(round).every(({ place }) => !place.split("-").includes("00")) || pockets.length === 38;
    return lies && covers;
  };
  return pocketsOf(possible.find(fits) ?? possible[0]);
}
