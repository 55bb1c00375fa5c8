// Roulette's slip: its methods, the limits of its places, and call bets.
import type { MethodName, Params, Result } from "../../../api/messages";
import { Refusal } from "../../../api/refusal";
import { BetSlip, type BetSlipPorts, type BettingRules } from "../../../bets/bet_slip";
import { type PlacedBets, sumBets, totalOf } from "../../../bets/bets";
import { type Cents, cents } from "../../../words/money";
import type { CallBet, Layout, Place } from "../layout/messages";

export interface RouletteSlipPorts extends BetSlipPorts {
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
}

export class RouletteSlip extends BetSlip {
  private readonly callBets: ReadonlyMap<string, CallBet>;

  constructor(tableId: string, layout: Layout, ports: RouletteSlipPorts) {
    super(bettingRules(tableId, layout, ports), ports);
    this.callBets = new Map(layout.call_bets.map((bet) => [bet.place, bet]));
  }

  /** Places a chip, or one for each unit of a call bet. */
  override placeChip(place: string, value: Cents): boolean {
    const callBet = this.callBets.get(place);
    return callBet ? this.place(callBetComponents(callBet, value)) : super.placeChip(place, value);
  }

  /** Launches the ball once all placements have been answered. */
  spin(): Promise<void> {
    return this.start();
  }
}

/** The bets that a call bet places, for an amount per unit. */
export function callBetComponents(bet: CallBet, unit: Cents): PlacedBets {
  return sumBets(bet.components.map(({ place, amount_cents }) => [place, cents(amount_cents) * unit]));
}

function bettingRules(table_id: string, layout: Layout, { call }: RouletteSlipPorts): BettingRules {
  const places = new Map(layout.places.map((place) => [place.place, place]));
  const totalMaximum = cents(layout.total_maximum_cents);
  return {
    place: (command) => call("RouletteService.PlaceBets", { table_id, ...command }),
    repeat: (command) => call("RouletteService.RepeatBets", { table_id, ...command }),
    takeBack: (command) => call("RouletteService.CancelBets", { table_id, ...command }),
    start: (round_id) => call("RouletteService.Spin", { table_id, round_id }),
    refusalFor: (added, onFelt) => limitRefusal(places, totalMaximum, added, onFelt),
  };
}

function limitRefusal(
  places: ReadonlyMap<string, Place>,
  totalMaximum: Cents,
  added: PlacedBets,
  onFelt: PlacedBets,
): Refusal | null {
  for (const [name, value] of added) {
    const place = places.get(name);
    if (!place) return new Refusal("BET_NOT_OFFERED", { place: name }, "", "Not offered.");
    const { minimum_cents, maximum_cents, even_cents_only } = place;
    const facts = { place: name, amount_cents: String(value), minimum_cents, maximum_cents };
    if (value < cents(minimum_cents)) return new Refusal("BELOW_MINIMUM", facts, "", "Below the minimum.");
    if (even_cents_only && value % 2) return new Refusal("ODD_CENTS", facts, "", "Odd cents.");
    if ((onFelt.get(name) ?? 0) + value > cents(maximum_cents)) {
      return new Refusal("ABOVE_MAXIMUM", facts, "", "Above the maximum.");
    }
  }
  const all = totalOf(onFelt) + totalOf(added);
  if (!totalMaximum || all <= totalMaximum) return null;
  const facts = { amount_cents: String(all), maximum_cents: String(totalMaximum) };
  return new Refusal("ABOVE_TOTAL", facts, "", "Above the total.");
}
