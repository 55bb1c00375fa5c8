// A seat in words, for screen readers.
import { cardsText } from "../../../cards/card_names";
import { amount, type Unit } from "../../../words/money";
import type { SeatPicture, TablePicture } from "../round/picture";
import { combinationText } from "./combinations";
import { pokerWords } from "./table_words";

interface Context {
  own: boolean;
  deciding: boolean;
  picture: TablePicture;
  mode: Unit;
}

/** `Lugar 4: cave 12,35 €; botão; apostou 1,00 €; 2 cartas fechadas; a decidir`. */
export function seatText(seat: SeatPicture, { own, deciding, picture, mode }: Context): string {
  const words = pokerWords();
  if (!seat.taken) return words.freeSeat(seat.seat);
  const name = own ? `${words.seat(seat.seat)}, ${words.you}` : words.seat(seat.seat);
  const turnedUp = seat.cards.length > 0 && seat.cards.every((card) => card !== "");
  const facts = [
    mode === "CHIPS" ? amount(seat.cave_cents, mode) : words.cave(amount(seat.cave_cents, mode)),
    picture.button === seat.seat && words.button,
    picture.small_blind === seat.seat && words.smallBlind,
    picture.big_blind === seat.seat && words.bigBlind,
    words.standings[seat.standing],
    seat.disconnected && words.disconnected,
    seat.folded && words.folded,
    seat.all_in && words.allIn,
    seat.bet_cents > 0 && words.bet(amount(seat.bet_cents, mode)),
    seat.dealt && !seat.folded && !turnedUp && words.dealtIn(seat.cards.length),
    turnedUp && (own ? words.holds : words.shows)(cardsText(seat.cards)),
    combinationText(seat.combination, seat.best),
    deciding && words.decides,
  ];
  return `${name}: ${facts.filter(Boolean).join("; ")}`;
}
