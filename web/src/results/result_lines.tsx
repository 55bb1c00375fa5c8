// The player's result on a plaque, in a headline and its details.
import type { Mode } from "../api/messages";
import { amount, type Cents } from "../words/money";
import { resultText, verdict } from "./verdict";
import { resultWords } from "./words";

interface Props {
  staked: Cents;
  payout: Cents;
  /** The prizes of the winning bets, where they are known. */
  prize?: Cents;
  mode: Mode;
  /** What the game adds to the details. */
  more?: string;
}

export function ResultLines({ staked, payout, prize, mode, more }: Props) {
  const words = resultWords();
  const result = verdict(staked, payout);
  const amountText = (value: Cents) => amount(value, mode);
  if (result === "unstaked") return <span class="outcome-detail">{words.unstaked}</span>;
  const back = prize
    ? words.prize(amountText(payout), amountText(prize), amountText(staked))
    : words.back(amountText(payout), amountText(staked));
  return (
    <span class="outcome-result figures">
      <span class="outcome-headline" data-testid="outcome-result">
        {resultText(staked, payout, mode)}
      </span>
      <span class="outcome-detail">{result === "lost" ? words.nothing : more ? `${back}; ${more}` : back}</span>
    </span>
  );
}
