// The bank's result in words: what the display of the latest results and lists show (805/2015:4.c).
import type { Any } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import type { Outcome } from "../messages/messages";

const outcomesWords = dictionary(
  {
    bank: (result: string) => `Banca: ${result}`,
    blackjack: "blackjack",
    bust: (score: number) => `${score}, passou`,
    unplayed: "não jogou",
    shortBlackjack: "BJ",
    none: "–",
  },
  {
    bank: (result: string) => `Bank: ${result}`,
    blackjack: "blackjack",
    bust: (score: number) => `${score}, bust`,
    unplayed: "did not play",
    shortBlackjack: "BJ",
    none: "–",
  },
);

const MOST = 21;

export type BankResult = { kind: "blackjack" | "score" | "bust" | "unplayed"; score: number };

export function bankResult(outcome: Any | null | undefined): BankResult {
  const bank = (outcome as Partial<Outcome> | null | undefined)?.bank;
  if (!bank?.hole_shown) return { kind: "unplayed", score: bank?.score ?? 0 };
  if (bank.blackjack) return { kind: "blackjack", score: bank.score };
  return { kind: bank.score > MOST ? "bust" : "score", score: bank.score };
}

/** `19`, `24`, `BJ`, `–`. */
export function bankResultShort({ kind, score }: BankResult): string {
  const words = outcomesWords();
  if (kind === "blackjack") return words.shortBlackjack;
  return kind === "unplayed" ? words.none : String(score);
}

/** `19`, `24, passou`, `blackjack`, `não jogou`. */
export function bankResultText({ kind, score }: BankResult): string {
  const words = outcomesWords();
  if (kind === "blackjack") return words.blackjack;
  if (kind === "bust") return words.bust(score);
  return kind === "unplayed" ? words.unplayed : String(score);
}

/** For lists: `Banca: 19`. */
export function outcomeLabel(outcome: Any): string {
  return outcomesWords().bank(bankResultText(bankResult(outcome)));
}
