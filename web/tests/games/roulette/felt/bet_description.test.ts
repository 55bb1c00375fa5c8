// A call bet in words: its numbers, cost, prize and limits, before anything is bet.
import "../../../page";
import { describe, expect, it } from "vitest";
import { callBetLabel, describeCallBet } from "../../../../src/games/roulette/felt/bet_description";
import { layoutOf } from "../layouts";

const layout = layoutOf("WHEEL_FRENCH");
const places = new Map(layout.places.map((place) => [place.place, place]));
const callBets = new Map(layout.call_bets.map((bet) => [bet.place, bet]));
const of = (name: string) => {
  const bet = callBets.get(name);
  if (!bet) throw new Error(`no ${name}`);
  return bet;
};

describe("a call bet in words", () => {
  it("has every number, the cost, the prize and the limits", () => {
    const description = describeCallBet(of("voisins"), places, 2500, "MODE_DEMO");
    expect(description.name).toBe("Vizinhos do zero");
    expect(description.numbers).toBe("0, 2, 3, 4, 7, 12, 15, 18, 19, 21, 22, 25, 26, 28, 29, 32, 35");
    expect(description.terms).toEqual([
      "9 fichas de 25 créditos: 225 créditos",
      "prémio de 400 a 550 créditos, conforme o número",
      "de 1 a 45 créditos por ficha",
    ]);
  });

  it("has one prize where every number pays the same", () => {
    expect(describeCallBet(of("tiers"), places, 100, "MODE_DEMO").terms[1]).toBe("prémio de 17 créditos");
  });

  it("is the same for screen readers", () => {
    expect(callBetLabel(of("final-7"), places, 100, "MODE_DEMO")).toBe(
      "Finais em 7: 7, 17, 27; 3 fichas de 1 crédito: 3 créditos; prémio de 35 créditos; de 1 a 30 créditos por ficha",
    );
  });
});
