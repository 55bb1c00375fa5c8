// What a call bet may bring, told before it is bet: from the prizes of its components.
import "./page";
import { describe, expect, it } from "vitest";
import { callBetHeard, callBetTold } from "../../../src/games/roulette/bet_told";
import { components } from "../../../src/games/roulette/bets";
import { oddsOf } from "../../../src/games/roulette/call_bet_odds";
import { layoutOf } from "./layouts";

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
  ])("%s brings %i to %i units", (name, least, most) => {
    const { leastHalves, mostHalves } = oddsOf(of(name), places);
    expect([leastHalves / 2, mostHalves / 2]).toEqual([least, most]);
  });

  it("are those of every bet: whichever number is drawn, the prizes of what covers it", () => {
    for (const bet of bets.values()) {
      const { numbers, leastHalves, mostHalves } = oddsOf(bet, places);
      const prizes = numbers.map((number) =>
        [...components(bet, 1)].reduce((all, [name, units]) => {
          const place = places.get(name);
          return place?.numbers.includes(number) ? all + units * place.prize_halves : all;
        }, 0),
      );
      expect([Math.min(...prizes), Math.max(...prizes)], bet.place).toEqual([leastHalves, mostHalves]);
    }
  });

  it("bound a unit so that every component is within its place's bounds", () => {
    for (const bet of bets.values()) {
      const { leastUnit, mostUnit } = oddsOf(bet, places);
      const within = (unit: number) =>
        [...components(bet, unit)].every(([name, value]) => {
          const place = places.get(name);
          return place && value >= Number(place.minimum_cents) && value <= Number(place.maximum_cents);
        });
      expect([within(leastUnit), within(leastUnit - 1)], bet.place).toEqual([true, false]);
      expect([within(mostUnit), within(mostUnit + 1)], bet.place).toEqual([true, false]);
    }
  });
});

describe("a call bet in words", () => {
  it("names every number, the cost, the prize and the bounds", () => {
    const told = callBetTold(of("voisins"), places, 2500, "MODE_DEMO");
    expect(told.name).toBe("Vizinhos do zero");
    expect(told.numbers).toBe("0, 2, 3, 4, 7, 12, 15, 18, 19, 21, 22, 25, 26, 28, 29, 32, 35");
    expect(told.terms).toEqual([
      "9 fichas de 25 créditos: 225 créditos",
      "prémio de 400 a 550 créditos, conforme o número",
      "de 1 a 45 créditos por ficha",
    ]);
  });

  it("says one prize where every number brings the same", () => {
    expect(callBetTold(of("tiers"), places, 100, "MODE_DEMO").terms[1]).toBe("prémio de 17 créditos");
  });

  it("says the same to those who hear it", () => {
    expect(callBetHeard(of("final-7"), places, 100, "MODE_DEMO")).toBe(
      "Finais em 7: 7, 17, 27; 3 fichas de 1 crédito: 3 créditos; prémio de 35 créditos; de 1 a 30 créditos por ficha",
    );
  });
});
