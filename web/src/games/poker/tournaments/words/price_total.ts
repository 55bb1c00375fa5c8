// What a price is in all.
import { type Cents, cents } from "../../../../words/money";
import type { TournamentPrice } from "../../messages/messages";

export function totalOf(price: TournamentPrice | undefined): Cents {
  return price ? cents(price.prize_cents) + cents(price.fee_cents) + cents(price.bounty_cents) : 0;
}
