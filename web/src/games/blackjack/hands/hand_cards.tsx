// The cards of a hand, one over the other, with its score, and what became of it.
import { useContext } from "preact/hooks";
import { PlayingCard } from "../../../cards/playing_card";
import type { ShownCards } from "../felt/shown_cards";
import { handKey } from "../felt/shown_cards";
import { CardPointsContext } from "../layout/card_points";
import { overlap } from "../layout/geometry";
import "./hand_cards.css";

interface Props {
  cards: ShownCards;
  /** The place and number; null for the bank. */
  hand: { place: number; number: number } | null;
  names: readonly string[];
  /** The width of a card. */
  width: number;
  /** The cards lie side by side, and not upon each other. */
  apart?: boolean;
}

export function HandCards({ cards, hand, names, width, apart = false }: Props) {
  const points = useContext(CardPointsContext);
  const step = width * (apart ? 1.07 : overlap(names.length));
  const rise = apart ? 0 : Math.min(width * 0.1, (width * 0.3) / Math.max(1, names.length - 1));
  const count = Math.max(names.length, 1);
  const collected = cards.collected.value.get(handKey(hand));
  return (
    <span
      class="hand-cards"
      style={{
        "--card-width": `${width}px`,
        width: `${width + step * (count - 1)}px`,
        height: `${width * 1.4 + rise * (count - 1)}px`,
      }}
    >
      {names.map((name, at) => (
        <span key={at} class="hand-card" style={{ left: `${at * step}px`, bottom: `${at * rise}px` }}>
          <PlayingCard
            silent
            name={name}
            dealt={cards.spanOf(hand, at)}
            from={points?.shoe}
            collected={collected}
            to={points?.discards}
          />
        </span>
      ))}
    </span>
  );
}
