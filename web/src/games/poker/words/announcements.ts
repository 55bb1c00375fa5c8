// What screen readers hear of a hand.
import { cardsText } from "../../../cards/card_names";
import { dictionary } from "../../../words/language";
import { amount, cents, type Unit } from "../../../words/money";
import type { Move } from "../messages/messages";
import type { BestHand } from "../round/best_hand";
import type { Bounds, TablePicture } from "../round/picture";
import { combinationText } from "./combinations";
import { potName } from "./table_words";

const announcementWords = dictionary(
  {
    dealt: (cards: string, button: number) => `As suas cartas: ${cards}. O botão está no lugar ${button}.`,
    board: (cards: string) => `Cartas viradas: ${cards}.`,
    hand: (hand: string) => `A sua mão: ${hand}.`,
    fold: (seat: number) => `O lugar ${seat} desistiu.`,
    check: (seat: number) => `O lugar ${seat} passou.`,
    call: (seat: number) => `O lugar ${seat} acompanhou.`,
    raise: (seat: number, to: string) => `O lugar ${seat} subiu para ${to}.`,
    turn: "É a sua vez.",
    toCall: (sum: string) => `Acompanhar custa ${sum}.`,
    free: "Pode passar.",
    raises: (from: string, to: string) => `Pode subir para ${from} até ${to}.`,
    wins: (seat: number, sum: string) => `O lugar ${seat} ganha ${sum}`,
    youWin: (sum: string) => `Ganhou ${sum}`,
    ofPot: (pot: string) => `, ${pot.toLowerCase()}`,
  },
  {
    dealt: (cards: string, button: number) => `Your cards: ${cards}. The button is at seat ${button}.`,
    board: (cards: string) => `Common cards: ${cards}.`,
    hand: (hand: string) => `Your hand: ${hand}.`,
    fold: (seat: number) => `Seat ${seat} folded.`,
    check: (seat: number) => `Seat ${seat} checked.`,
    call: (seat: number) => `Seat ${seat} called.`,
    raise: (seat: number, to: string) => `Seat ${seat} raised to ${to}.`,
    turn: "It is your turn.",
    toCall: (sum: string) => `A call costs ${sum}.`,
    free: "You can check.",
    raises: (from: string, to: string) => `You can raise to ${from}, up to ${to}.`,
    wins: (seat: number, sum: string) => `Seat ${seat} wins ${sum}`,
    youWin: (sum: string) => `You won ${sum}`,
    ofPot: (pot: string) => `, ${pot.toLowerCase()}`,
  },
);

export function dealtText(cards: readonly string[], button: number): string {
  return announcementWords().dealt(cardsText(cards), button);
}

export function boardText(board: readonly string[], best: BestHand | null): string {
  const words = announcementWords();
  const hand = best ? ` ${words.hand(combinationText(best.combination, best.cards))}` : "";
  return `${words.board(cardsText(board))}${hand}`;
}

export function moveText(seat: number, move: Move, mode: Unit): string {
  const words = announcementWords();
  if (move.action === "ACTION_FOLD") return words.fold(seat);
  if (move.action === "ACTION_CHECK") return words.check(seat);
  return move.action === "ACTION_CALL" ? words.call(seat) : words.raise(seat, amount(cents(move.to_cents), mode));
}

/** The player's turn, and within which bounds they decide. */
export function turnText(bounds: Bounds | null, mode: Unit): string {
  const words = announcementWords();
  if (!bounds) return words.turn;
  const price = bounds.to_call_cents > 0 ? words.toCall(amount(bounds.to_call_cents, mode)) : words.free;
  const raises = bounds.max_to_cents
    ? ` ${words.raises(amount(bounds.min_to_cents, mode), amount(bounds.max_to_cents, mode))}`
    : "";
  return `${words.turn} ${price}${raises}`;
}

/** Who wins which pot with what, one text for each. */
export function resultTexts(picture: TablePicture, own: number | undefined, mode: Unit): string[] {
  const words = announcementWords();
  const pots = new Set(picture.prizes.map(({ pot }) => pot)).size;
  return picture.prizes.map(({ pot, seat, net_cents }) => {
    const winner = picture.seats.find((each) => each.seat === seat);
    const hand = winner ? combinationText(winner.combination, winner.best) : "";
    const wins = seat === own ? words.youWin(amount(net_cents, mode)) : words.wins(seat, amount(net_cents, mode));
    return `${wins}${pots > 1 ? words.ofPot(potName(pot, pots)) : ""}${hand ? `: ${hand}` : ""}.`;
  });
}
