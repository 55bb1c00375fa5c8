// What the player alone may see of the round and decide in it.
//
// It comes with the player's seat, and by a message of its own when it changes, before or after the event that changes the
// round. What the player may decide counts for the turn that it names; what they may see stays so until they are told
// otherwise. A player who is asked and was told nothing asks for it.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { OwnSeat, OwnViewChanged, TableSnapshot } from "../../api/messages";

export const ASKED_AFTER_MS = 700;

interface Told {
  round_id: string;
  turn: number;
  view: OwnSeat["own_view"] | undefined;
}

interface Ports {
  snapshot: ReadonlySignal<TableSnapshot | null>;
  seat: ReadonlySignal<OwnSeat | null>;
  /** Reads the seat again. */
  read(): void;
}

export class OwnView {
  /** Null while there is nothing that the player alone may see and decide in this turn. */
  readonly view: ReadonlySignal<NonNullable<OwnSeat["own_view"]> | null>;
  /** What the player was told last in this round, whichever turn it was. */
  readonly seen: ReadonlySignal<NonNullable<OwnSeat["own_view"]> | null>;
  /** The player may decide now. */
  readonly asked: ReadonlySignal<boolean>;
  /** The turn for which the seat was read: once is enough. */
  private lastRead = "";
  private readonly told = signal<Told | null>(null);

  constructor(private readonly ports: Ports) {
    this.seen = computed(() => {
      const told = this.told.value;
      return told && told.round_id === ports.snapshot.value?.round?.round_id ? (told.view ?? null) : null;
    });
    this.view = computed(() => {
      const turn = ports.snapshot.value?.round?.turn?.turn ?? 0;
      return this.told.value?.turn === turn ? this.seen.value : null;
    });
    this.asked = computed(() => {
      const seat = ports.seat.value?.seat;
      const turn = ports.snapshot.value?.round?.turn;
      return seat !== undefined && (turn?.seats.includes(seat) ?? false);
    });
  }

  /** The returned function stops it. */
  follow(): () => void {
    return effect(() => {
      const round = this.ports.snapshot.value?.round;
      if (!round?.turn || !this.asked.value || this.view.value) return;
      const turn = `${round.round_id} ${round.turn.turn}`;
      if (turn === this.lastRead) return;
      const timer = setTimeout(() => {
        this.lastRead = turn;
        this.ports.read();
      }, ASKED_AFTER_MS);
      return () => clearTimeout(timer);
    });
  }

  /** The player's seat was read together with the table. */
  seatRead(table: TableSnapshot, own: OwnSeat): void {
    const { round } = table;
    this.told.value = round ? { round_id: round.round_id, turn: round.turn?.turn ?? 0, view: own.own_view } : null;
  }

  /** Messages may have been missed: a player who is asked reads what they may decide again. */
  mayHaveMissed(): void {
    if (this.asked.value) this.ports.read();
  }

  changed({ round_id, turn, own_view, waiting }: OwnViewChanged): void {
    // It is about a place on the waiting list, and not about the round.
    if (waiting) return;
    const known = this.told.value;
    // A message about an earlier turn may come late.
    if (known?.round_id === round_id && turn !== 0 && turn < known.turn) return;
    this.told.value = { round_id, turn, view: own_view };
  }
}
