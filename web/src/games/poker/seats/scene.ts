// What a table shows at one moment, and what of it moves: a live table gives all of it, a past hand the picture alone.
import type { Turn } from "../../../api/messages";
import type { Span } from "../../../cards/card_motion";
import type { Cents, Unit } from "../../../words/money";
import type { ChipFlight } from "../round/chip_flights";
import type { TablePicture } from "../round/picture";

export interface Scene {
  picture: TablePicture;
  /** The player's own seat. */
  own: number | undefined;
  /** How many cards each player is dealt. */
  personal: number;
  mode: Unit;
  /** The least chip. */
  least: Cents;
  /** When cards are dealt, by `seat.card`, with 0 for the common ones; those without a time lie. */
  dealt?: ReadonlyMap<string, Span>;
  /** Chips on their way. */
  moving?: readonly (ChipFlight & { key: number; span: Span })[];
  /** The seat that decides now, and until when. */
  deciding?: number | null;
  turn?: Turn | null;
  decision_ms?: number;
  /** The winner whose five cards are marked. */
  marked?: number | null;
  /** The hand is over, and everything that it shows may be compared. */
  compared?: boolean;
}

/** The five cards that are marked; null while none are. */
export function markedCards({ picture, marked }: Scene): readonly string[] | null {
  return picture.seats.find(({ seat }) => seat === marked)?.best ?? null;
}
