// How a round went for a player. A payout below the stake is no win, and not called one.
import type { Mode } from "../api/messages";
import { amount, type Cents } from "../words/money";
import { resultWords } from "./words";

export type Verdict = "unstaked" | "lost" | "less" | "even" | "won";

/** All bets together. */
export function verdict(staked: Cents, payout: Cents): Verdict {
  if (staked === 0) return "unstaked";
  if (payout === 0) return "lost";
  if (payout < staked) return "less";
  return payout === staked ? "even" : "won";
}

/** `Ganhou 30,00 €`. */
export function resultText(staked: Cents, payout: Cents, mode: Mode): string {
  const words = resultWords();
  const result = verdict(staked, payout);
  if (result === "unstaked") return words.unstaked;
  if (result === "even") return words.even;
  const difference = amount(Math.abs(payout - staked), mode);
  return result === "won" ? words.won(difference) : result === "less" ? words.less(difference) : words.lost(difference);
}
