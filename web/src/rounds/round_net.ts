// What the player gained or lost in a round, as a number and in words.
import type { PlayerRound } from "../api/messages";
import { amount, cents } from "../words/money";
import { roundWords } from "./words";

/** Null until it is known. */
export function roundNet(round: PlayerRound): number | null {
  if (round.round?.state === "ROUND_STATE_VOID") return 0;
  if (round.round?.state !== "ROUND_STATE_SETTLED") return null;
  return cents(round.payout_cents) - cents(round.staked_cents);
}

export function roundNetText(round: PlayerRound): string {
  const words = roundWords();
  if (round.round?.state === "ROUND_STATE_VOID") return words.void;
  const net = roundNet(round);
  if (net === null) return words.underWay;
  if (net === 0) return words.even;
  return net > 0 ? words.won(amount(net, round.mode)) : words.lost(amount(-net, round.mode));
}
