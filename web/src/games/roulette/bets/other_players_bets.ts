// The other players' bets: for each place, how many players and how much.
import { signal } from "@preact/signals";
import type { SeatBets } from "../../../api/messages";
import { betsFromMessage, type PlacedBets } from "../../../bets/bets";
import type { Cents } from "../../../words/money";

export interface PlaceMark {
  players: number;
  cents: Cents;
}

export class OtherPlayersBets {
  /** One mark per place, for all who have bet there. An unchanged mark remains the same object. */
  readonly marks = signal<ReadonlyMap<string, PlaceMark>>(new Map());

  private places = new Map<string, Map<number, Cents>>();
  private changed = new Set<string>();
  private waiting = false;

  /** Changes until the next drawing are shown together. */
  constructor(private readonly nextDrawing: (then: () => void) => void) {}

  reset(bets: readonly SeatBets[], ownSeat: number | undefined): void {
    this.clear();
    for (const { seat, bets: message } of bets) if (seat !== ownSeat) this.placed(seat, betsFromMessage(message));
  }

  placed(seat: number, bets: PlacedBets): void {
    for (const [place, value] of bets) this.change(seat, place, value);
  }

  takenBack(seat: number, bets: PlacedBets): void {
    for (const [place, value] of bets) this.change(seat, place, -value);
  }

  clearSeat(seat: number): void {
    for (const [place, seats] of this.places) if (seats.delete(seat)) this.changed.add(place);
    this.scheduleDrawing();
  }

  clear(): void {
    for (const place of this.places.keys()) this.changed.add(place);
    this.places = new Map();
    this.scheduleDrawing();
  }

  private change(seat: number, place: string, by: Cents): void {
    const seats = this.places.get(place) ?? new Map<number, Cents>();
    this.places.set(place, seats);
    const now = (seats.get(seat) ?? 0) + by;
    if (now > 0) seats.set(seat, now);
    else seats.delete(seat);
    this.changed.add(place);
    this.scheduleDrawing();
  }

  private scheduleDrawing(): void {
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
