// What a call bet may pay, computed from the prizes of its components.
import "../../../page";
import { describe, expect, it } from "vitest";
import { callBetOdds } from "../../../../src/games/roulette/bets/call_bet_odds";
import { callBetComponents } from "../../../../src/games/roulette/bets/roulette_slip";
import { layoutOf } from "../layouts";

const layout = layoutOf("WHEEL_FRENCH");
const places = new Map(layout.places.map((place) => [place.place, place]));
const bets = new Map(layout.call_bets.map((bet) => [bet.place, bet]));
const of = (name: string) => {
  const bet = bets.get(name);
  if (!bet) throw new Error(`no ${name}`);
  return bet;
};

describe("the odds of a call bet", () => {
  it.each([
    // 0-2-3 with two units pays 22, a split 17, 25-26-28-29 with two units 16.
    ["voisins", 16, 22],
    ["tiers", 17, 17],
    // The 1 is a straight, the 17 lies on two splits.
    ["orphelins", 17, 35],
    ["neighbours-17-4", 35, 35],
    ["final-7", 35, 35],
  ])("%s pays %i to %i units", (name, least, most) => {
    const { leastHalves, mostHalves } = callBetOdds(of(name), places);
    expect([leastHalves / 2, mostHalves / 2]).toEqual([least, most]);
  });

  it("agree with every number's prize, for all call bets", () => {
    for (const bet of bets.values()) {
      const { numbers, leastHalves, mostHalves } = callBetOdds(bet, places);
      const prizes = numbers.map((number) =>
        [...callBetComponents(bet, 1)].reduce((all, [name, units]) => {
          const place = places.get(name);
          return place?.numbers.includes(number) ? all + units * place.prize_halves : all;
        }, 0),
      );
      expect([Math.min(...prizes), Math.max(...prizes)], bet.place).toEqual([leastHalves, mostHalves]);
    }
  });

  it("bound a unit so that every component is within its place's bounds", () => {
    for (const bet of bets.values()) {
      const { leastUnit, mostUnit } = callBetOdds(bet, places);
      const within = (unit: number) =>
        [...callBetComponents(bet, unit)].every(([name, value]) => {
          const place = places.get(name);
          return place && value >= Number(place.minimum_cents) && value <= Number(place.maximum_cents);
        });
      expect([within(leastUnit), within(leastUnit - 1)], bet.place).toEqual([true, false]);
      expect([within(mostUnit), within(mostUnit + 1)], bet.place).toEqual([true, false]);
    }
  });
});
