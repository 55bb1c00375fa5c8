// What the other players have on the felt: for each place how many of them, and how much.
import { signal } from "@preact/signals";
import type { SeatBets } from "../../api/messages";
import type { Cents } from "../../words/money";
import { type Laid, laid } from "./bets";

export interface Mark {
  players: number;
  cents: Cents;
}

export class BetsOfOthers {
  /** One mark per place, however many have bet there. A mark that stays the same stays the same object. */
  readonly marks = signal<ReadonlyMap<string, Mark>>(new Map());

  private places = new Map<string, Map<number, Cents>>();
  private changed = new Set<string>();
  private waiting = false;

  /** What happens until the next drawing is shown with it, all at once. */
  constructor(private readonly nextDrawing: (then: () => void) => void) {}

  picture(bets: readonly SeatBets[], ownSeat: number | undefined): void {
    this.clear();
    for (const { seat, bets: message } of bets) if (seat !== ownSeat) this.placed(seat, laid(message));
  }

  placed(seat: number, bets: Laid): void {
    for (const [place, value] of bets) this.change(seat, place, value);
  }

  takenBack(seat: number, bets: Laid): void {
    for (const [place, value] of bets) this.change(seat, place, -value);
  }

  clear(): void {
    for (const place of this.places.keys()) this.changed.add(place);
    this.places = new Map();
    this.show();
  }

  private change(seat: number, place: string, by: Cents): void {
    const seats = this.places.get(place) ?? new Map<number, Cents>();
    this.places.set(place, seats);
    const now = (seats.get(seat) ?? 0) + by;
    if (now > 0) seats.set(seat, now);
    else seats.delete(seat);
    this.changed.add(place);
    this.show();
  }

  private show(): void {
    if (this.waiting || this.changed.size === 0) return;
    this.waiting = true;
    this.nextDrawing(() => {
      this.waiting = false;
      const marks = new Map(this.marks.value);
      for (const place of this.changed) {
        const seats = this.places.get(place);
        if (!seats?.size) marks.delete(place);
        else marks.set(place, { players: seats.size, cents: [...seats.values()].reduce((all, one) => all + one, 0) });
      }
      this.changed.clear();
      this.marks.value = marks;
    });
  }
}
