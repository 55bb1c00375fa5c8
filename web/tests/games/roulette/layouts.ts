// The answers of GetLayout for the three wheels, recorded from the platform in a short form.

import type { Layout } from "../../../src/games/roulette/layout/messages";
import { colourOf } from "../../../src/games/roulette/layout/pockets";
import recorded from "./layouts.json";

type Row<T extends unknown[]> = T;
interface Recorded {
  pockets: string;
  places: Row<[place: string, kind: string, numbers: string, maximum: number, halves: number, even: boolean]>[];
  call_bets: Row<[place: string, units: number, components: string]>[];
}

export const WHEELS = ["WHEEL_AMERICAN_37", "WHEEL_AMERICAN_38", "WHEEL_FRENCH"] as const;

export function layoutOf(wheel: (typeof WHEELS)[number], totalMaximum = 0): Layout {
  const { pockets, places, call_bets } = recorded[wheel] as unknown as Recorded;
  return {
    wheel,
    pockets: pockets.split(" ").map((number) => ({ number, colour: colourOf(number) })),
    places: places.map(([place, kind, numbers, maximum, prize_halves, even_cents_only]) => ({
      place,
      kind: `KIND_${kind}` as Layout["places"][number]["kind"],
      numbers: numbers.split(" "),
      minimum_cents: "100",
      maximum_cents: String(maximum),
      prize_halves,
      even_cents_only,
    })),
    call_bets: call_bets.map(([place, units, components]) => ({
      place,
      units,
      components: components.split(" ").map((component) => {
        const [name = "", amount_cents = ""] = component.split("*");
        return { place: name, amount_cents };
      }),
    })),
    total_maximum_cents: String(totalMaximum),
    largest_prize_per_unit: 35,
  };
}
