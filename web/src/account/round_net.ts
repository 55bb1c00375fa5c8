// What a round brought the player, as a number and in words.
import type { PlayerRound } from "../api/messages";
import { amount, cents } from "../words/money";
import { roundsWords } from "./rounds_words";

/** Null until it is known. */
export function netOf(round: PlayerRound): number | null {
  if (round.round?.status === "ROUND_STATUS_VOID") return 0;
  if (round.round?.status !== "ROUND_STATUS_SETTLED") return null;
  return cents(round.payout_cents) - cents(round.staked_cents);
}

export function netInWords(round: PlayerRound): string {
  const words = roundsWords();
  if (round.round?.status === "ROUND_STATUS_VOID") return words.void;
  const net = netOf(round);
  if (net === null) return words.underWay;
  if (net === 0) return words.even;
  return net > 0 ? words.won(amount(net, round.mode)) : words.lost(amount(-net, round.mode));
}
