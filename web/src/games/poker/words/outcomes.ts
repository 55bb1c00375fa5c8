// How a hand ended, in a word or two: for lists and the display of the latest hands.
import type { Any } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { type Cents, cents, shortAmount } from "../../../words/money";
import type { Combination, Outcome } from "../messages/messages";
import { combinationText } from "./combinations";

const outcomesWords = dictionary(
  {
    won: (seats: string, sum: string) => `Lugar ${seats}: ${sum}`,
    wonMany: (seats: string, sum: string) => `Lugares ${seats}: ${sum}`,
    short: (seats: string) => `L${seats}`,
    and: " e ",
  },
  {
    won: (seats: string, sum: string) => `Seat ${seats}: ${sum}`,
    wonMany: (seats: string, sum: string) => `Seats ${seats}: ${sum}`,
    short: (seats: string) => `S${seats}`,
    and: " and ",
  },
);

export interface HandSummary {
  /** The seats that won, the largest prize first. */
  winners: readonly number[];
  /** Everything that the pots held. */
  pot_cents: Cents;
  combination: Combination;
  best: readonly string[];
}

export function handSummary(outcome: Any | null | undefined): HandSummary {
  const { payments = [], view } = (outcome ?? {}) as Partial<Outcome>;
  const bySeat = new Map<number, Cents>();
  for (const { seat, gross_cents } of payments) bySeat.set(seat, (bySeat.get(seat) ?? 0) + cents(gross_cents));
  const winners = [...bySeat].sort(([, one], [, other]) => other - one).map(([seat]) => seat);
  const first = view?.seats.find(({ seat }) => seat === winners[0]);
  return {
    winners,
    pot_cents: [...bySeat.values()].reduce((all, each) => all + each, 0),
    combination: first?.combination ?? "COMBINATION_UNSPECIFIED",
    best: first?.best_cards ?? [],
  };
}

/** `L4`, `L2 e 5`. */
export function winnersShort({ winners }: HandSummary): string {
  const words = outcomesWords();
  return words.short(winners.join(words.and));
}

/** For lists: `Lugar 4: 12,35, fullen de reis e 9`. */
export function outcomeLabel(outcome: Any): string {
  const words = outcomesWords();
  const summary = handSummary(outcome);
  const seats = summary.winners.join(words.and);
  const won = (summary.winners.length > 1 ? words.wonMany : words.won)(seats, shortAmount(summary.pot_cents));
  const hand = combinationText(summary.combination, summary.best);
  return hand ? `${won}, ${hand.charAt(0).toLowerCase()}${hand.slice(1)}` : won;
}
