// Says what happens in a hand to screen readers: the cards, every decision, the player's turn, and who wins.
import { effect, type Signal, untracked } from "@preact/signals";
import type { LiveTable } from "../../../table/live/live_table";
import type { Move } from "../messages/messages";
import type { BestHand } from "../round/best_hand";
import type { TablePicture } from "../round/picture";
import { boardText, dealtText, moveText, resultTexts, turnText } from "../words/announcements";

interface Felt {
  table: LiveTable;
  picture: { readonly value: TablePicture };
  stage: { readonly value: string };
  ownBest: { readonly value: BestHand | null };
}

/** The returned function stops it. */
export function announceHand(felt: Felt, said: Signal<string>): () => void {
  const { table } = felt;
  const own = () => table.ownSeat.peek()?.seat;
  const ownCards = () => felt.picture.value.seats.find(({ seat }) => seat === own())?.cards ?? [];
  /** The number of the player's turn, while the cards lie. */
  const ownTurn = () => {
    const asked = table.own.asked.value && felt.stage.value === "playing" && !table.dealing.value;
    return asked ? table.turn.value?.turn : undefined;
  };
  let lastCards = "";
  let lastBoard = "";
  let lastTurn: number | undefined;
  const ends = [
    table.onEvent((event) => {
      const { move_made } = event;
      if (!move_made || move_made.seat === own()) return;
      const text = moveText(move_made.seat, move_made.move as Move, table.unit.peek());
      const turn = ownTurn();
      // The turn was said before the decision that led to it, and with older bounds.
      said.value = turn === undefined ? text : `${text} ${turnText(felt.picture.value.bounds, table.unit.peek())}`;
      lastTurn = turn ?? lastTurn;
    }),
    effect(() => {
      const cards = ownCards();
      if (cards.length === 0 || cards.some((card) => !card) || felt.stage.value === "dealing") return;
      const key = cards.join();
      untracked(() => {
        if (key !== lastCards) said.value = dealtText(cards, felt.picture.value.button);
      });
      lastCards = key;
    }),
    effect(() => {
      const { board } = felt.picture.value;
      if (![3, 4, 5].includes(board.length)) return;
      const key = board.join();
      untracked(() => {
        if (key === lastBoard) return;
        const text = boardText(board, felt.ownBest.value);
        // On a slow device the turn may be said before the last card: it is not lost.
        const turn = ownTurn();
        said.value = turn === undefined ? text : `${text} ${turnText(felt.picture.value.bounds, table.unit.value)}`;
        lastTurn = turn ?? lastTurn;
      });
      lastBoard = key;
    }),
    effect(() => {
      const number = ownTurn();
      if (number === undefined) return;
      untracked(() => {
        if (number !== lastTurn) said.value = turnText(felt.picture.value.bounds, table.unit.value);
      });
      lastTurn = number;
    }),
    effect(() => {
      if (felt.stage.value !== "result") return;
      untracked(() => {
        said.value = resultTexts(felt.picture.value, own(), table.unit.value).join(" ");
      });
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
