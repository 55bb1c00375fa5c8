// The bank's cards and its score.
import { cardsText } from "../../../cards/card_names";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import type { TableGeometry } from "../layout/geometry";
import { bankScoreLabel, bankScoreSaid } from "../words/scores";
import { blackjackWords } from "../words/table_words";
import { HandCards } from "./hand_cards";

// More cards than this lie upon each other.
const APART = 4;

export function BankCards({ felt, geometry }: { felt: BlackjackFelt; geometry: TableGeometry }) {
  const words = blackjackWords();
  const { bank } = felt.cards.picture.value;
  const { bank: at, bankCard } = geometry;
  const text = bank.cards.length ? words.bankHand(cardsText(bank.cards), bankScoreSaid(bank)) : undefined;
  return (
    <div
      class="felt-bank"
      style={{ left: `${at.x}px`, top: `${at.y}px` }}
      data-testid="bank"
      data-cards={bank.cards.join(" ")}
      {...(text ? { role: "img", "aria-label": text } : {})}
    >
      {bank.cards.length === 0 ? (
        <span class="felt-bank-room" style={{ width: `${bankCard * 2.1}px`, height: `${bankCard * 1.4}px` }}>
          {words.bank}
        </span>
      ) : (
        <>
          <HandCards
            cards={felt.cards}
            hand={null}
            names={bank.cards}
            width={bankCard}
            apart={bank.cards.length <= APART && geometry.width > 5.6 * bankCard}
          />
          <span class="score score-bank figures" data-testid="bank-score">
            {bankScoreLabel(bank)}
          </span>
        </>
      )}
    </div>
  );
}
