// Reads the player's own seat after a snapshot that holds only what is public.
//
// Events wait for the answer: it includes some of them, and the others happened after it. A platform that does not answer
// delays them by no more than a limit.
import type { OwnSeat, Result, TableEvent, TableSnapshot } from "../../api/messages";

/** Events wait for so long at the most before they are shown without the answer, and the seat is asked for again. */
export const HELD_MS = 2000;
export const READS_LIMIT = 3;

type Answer = Result<"TableService.GetTable">;

interface Ports {
  read(): Promise<Answer>;
  /** Takes the table over as the answer tells it, at one moment: what is public and the player's own seat. */
  whole(table: TableSnapshot, own: OwnSeat): void;
  /** Takes an event that has waited. */
  event(event: TableEvent): void;
}

export class OwnSeatReader {
  private held: TableEvent[] | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts what was asked: an answer to anything but the last question is ignored. */
  private asked = 0;

  constructor(private readonly ports: Ports) {}

  /** Asks for the seat; an answer older than the snapshot, whose number is given, is of no use. */
  start(snapshotSeq: number, reads = READS_LIMIT): void {
    this.cancel();
    const current = this.asked;
    this.held = [];
    const again = () => {
      if (current !== this.asked) return;
      this.release();
      if (reads > 1) this.start(snapshotSeq, reads - 1);
    };
    this.timer = setTimeout(again, HELD_MS);
    this.ports.read().then(
      ({ table, own_seat }) => {
        if (current !== this.asked) return;
        if (table && Number(table.seq) < snapshotSeq) again();
        else this.release(() => table && own_seat && this.ports.whole(table, own_seat));
      },
      () => current === this.asked && this.release(),
    );
  }

  /** Whether the event waits for the answer. */
  hold(event: TableEvent): boolean {
    this.held?.push(event);
    return this.held !== null;
  }

  /** A whole snapshot has come: it includes the events that waited. */
  cancel(): void {
    this.asked += 1;
    this.held = null;
    clearTimeout(this.timer);
  }

  private release(first: () => void = () => undefined): void {
    const held = this.held ?? [];
    this.cancel();
    first();
    for (const event of held) this.ports.event(event);
  }
}
