// One hand of a player: its cards, its score, and what became of it.
import { cardsText } from "../../../cards/card_names";
import { amount, type Cents, cents, shortAmount, signedAmount } from "../../../words/money";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import type { Hand } from "../messages/messages";
import { earlyVerdict, type HandVerdict, handResult } from "../round/hand_results";
import { sameHand } from "../round/picture";
import { handVerdictText } from "../words/result_words";
import { scoreLabel, scoreSaid } from "../words/scores";
import { blackjackWords } from "../words/table_words";
import { HandCards } from "./hand_cards";

interface Props {
  felt: BlackjackFelt;
  hand: Hand;
  width: number;
  /** One of several: what it brought is written on it, and not in words. */
  several: boolean;
}

export function PlayerHand({ felt, hand, width, several }: Props) {
  const picture = felt.cards.picture.value;
  const verdict = useVerdict(felt, hand);
  const plays = sameHand(hand, picture.playing);
  const text = handText(felt, hand, verdict.kind);
  return (
    <div
      class={`player-hand${plays ? " plays" : ""} verdict-${verdict.kind}`}
      role="img"
      aria-label={text}
      data-testid={`hand-${hand.place}-${hand.number}`}
      data-cards={hand.cards.join(" ")}
      data-verdict={verdict.kind}
    >
      <HandCards cards={felt.cards} hand={hand} names={hand.cards} width={width} />
      {hand.cards.length > 0 && (
        <span class="score figures">
          {scoreLabel(hand)}
          {hand.doubled && <b class="score-doubled">×2</b>}
        </span>
      )}
      {verdict.text &&
        (several && verdict.net !== null ? (
          <span class="hand-verdict figures">{signedAmount(verdict.net, felt.table.mode.value, shortAmount)}</span>
        ) : (
          <span class="hand-verdict hand-verdict-words">{verdict.text}</span>
        ))}
    </div>
  );
}

/** What became of the hand, as far as it may be shown. */
function useVerdict(felt: BlackjackFelt, hand: Hand): { kind: HandVerdict; text: string; net: Cents | null } {
  const { offers } = felt.cards.picture.value;
  const result = felt.stage.value === "result" ? felt.result.value : null;
  if (result) {
    const { verdict, staked_cents, payout_cents } = handResult(result.outcome, hand);
    return { kind: verdict, text: handVerdictText(verdict), net: payout_cents - staked_cents };
  }
  const early = earlyVerdict(
    hand,
    offers.some(({ place, even_money, taken }) => place === hand.place && even_money && taken),
  );
  const over = early !== "plays" && early !== "stands";
  return { kind: early, text: over ? handVerdictText(early) : "", net: null };
}

function handText(felt: BlackjackFelt, hand: Hand, verdict: HandVerdict): string {
  const words = blackjackWords();
  const parts = [
    words.hand(hand.place, hand.number, cardsText(hand.cards) || words.noCards, scoreSaid(hand)),
    words.staked(amount(cents(hand.staked_cents), felt.table.mode.value)),
    hand.doubled ? words.doubled : "",
    verdict === "plays" ? "" : handVerdictText(verdict),
  ];
  return parts.filter(Boolean).join(", ");
}
