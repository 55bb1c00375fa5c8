// The cards of a seat: backs, the player's own, or those that are turned up, with the best five of them marked.
import type { RefObject } from "preact";
import type { Span } from "../../../cards/card_motion";
import { PlayingCard } from "../../../cards/playing_card";

interface Props {
  cards: readonly string[];
  width: number;
  /** When each is dealt, by its number. */
  dealt: readonly (Span | undefined)[];
  from: RefObject<HTMLElement> | undefined;
  /** The five cards that are marked; null while none are. */
  marked: readonly string[] | null;
  /** Cards overlap, as held in a hand. */
  fanned: boolean;
}

export function SeatCards({ cards, width, dealt, from, marked, fanned }: Props) {
  return (
    <div
      class={fanned ? "poker-hand fanned" : "poker-hand"}
      style={{ "--card-width": `${width}px` }}
      aria-hidden="true"
    >
      {cards.map((card, at) => (
        <span key={at} class={markClass(card, marked)}>
          <PlayingCard silent name={card} dealt={dealt[at]} from={from} />
        </span>
      ))}
    </div>
  );
}

/** Cards of the marked combination stand out, and the others stand back. */
export function markClass(card: string, marked: readonly string[] | null): string {
  if (!marked || !card) return "poker-card";
  return marked.includes(card) ? "poker-card marked" : "poker-card unmarked";
}
