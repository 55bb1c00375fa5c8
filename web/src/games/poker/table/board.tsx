// The common cards: the flop, the turn next to it, the river next to that (806/2015:52 to 57).
import type { RefObject } from "preact";
import { cardsText } from "../../../cards/card_names";
import { PlayingCard } from "../../../cards/playing_card";
import type { TableGeometry } from "../layout/geometry";
import { markedCards, type Scene } from "../seats/scene";
import { markClass } from "../seats/seat_cards";
import { pokerWords } from "../words/table_words";

const COMMON = 5;

interface Props {
  scene: Scene;
  geometry: TableGeometry;
  dealer: RefObject<HTMLElement>;
}

export function Board({ scene, geometry, dealer }: Props) {
  const { board } = scene.picture;
  const words = pokerWords();
  const marked = markedCards(scene);
  return (
    <div
      class="poker-board"
      style={{
        left: `${geometry.board.x}px`,
        top: `${geometry.board.y}px`,
        "--card-width": `${geometry.boardCard}px`,
      }}
      role="img"
      aria-label={board.length ? words.boardOf(cardsText(board)) : words.noBoard}
      data-testid="board"
      data-cards={board.join(" ")}
    >
      {Array.from({ length: COMMON }, (_, at) => {
        const card = board[at];
        return (
          <span key={at} class="poker-slot">
            {card !== undefined && (
              <span class={markClass(card, marked)}>
                <PlayingCard silent name={card} dealt={scene.dealt?.get(`0.${at}`)} from={dealer} />
              </span>
            )}
          </span>
        );
      })}
    </div>
  );
}
