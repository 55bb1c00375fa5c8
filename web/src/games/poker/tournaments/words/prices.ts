// What taking part costs, in its parts: for prizes, the operator's fee, and the bounty.
import type { Mode } from "../../../../api/messages";
import { amount, type Cents, cents } from "../../../../words/money";
import type { TournamentPrice } from "../../messages/messages";
import { totalOf } from "./price_total";
import { tournamentWords } from "./words";

/** The whole price in a word: `11,00 €`; of a free tournament that it is free. */
export function priceText(price: TournamentPrice | undefined, mode: Mode): string {
  const total = totalOf(price);
  return total ? amount(total, mode) : tournamentWords().free;
}

/** What the price is made of: `10,00 € para prémios + 1,00 € de comissão`; empty of a free tournament. */
export function priceParts(price: TournamentPrice | undefined, mode: Mode): string {
  const words = tournamentWords().parts;
  const parts: [Cents, (sum: string) => string][] = [
    [cents(price?.prize_cents), words.prize],
    [cents(price?.bounty_cents), words.bounty],
    [cents(price?.fee_cents), words.fee],
  ];
  return parts
    .filter(([value]) => value > 0)
    .map(([value, text]) => text(amount(value, mode)))
    .join(" + ");
}
