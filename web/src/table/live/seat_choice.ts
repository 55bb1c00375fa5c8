// The seats of a table whose players choose theirs, as everybody sees them: followed from before the player sits down.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { TableSeat, TableSnapshot } from "../../api/messages";
import { watch } from "../../api/platform";
import type { Refusal } from "../../api/refusal";
import { applyEvent } from "./apply_event";

interface Ports {
  /** The player may choose among the seats. */
  choose(): void;
  /** Nothing has to be chosen here, or not now: the platform says what comes of sitting down. */
  enter(): void;
  /** The table cannot be followed. */
  refused(refusal: Refusal): void;
}

export class SeatChoice {
  /** The table that seats are chosen at; null while no seat has to be chosen. */
  readonly table = signal<TableSnapshot | null>(null);
  readonly seats: ReadonlySignal<readonly TableSeat[]> = computed(() => this.table.value?.seats ?? []);
  /** The seat that the player is just sitting down on. */
  readonly taking = signal<number | null>(null);
  /** The seat that another player was faster to take. */
  readonly lost = signal<number | null>(null);

  private unwatch: (() => void) | null = null;

  constructor(private readonly ports: Ports) {}

  /** Follows the table; a table that was followed before stays shown until it is known anew. */
  follow(tableId: string): void {
    this.taking.value = null;
    this.unwatch?.();
    this.unwatch = watch(tableId, {
      snapshot: (table, own) => this.known(table, own !== null),
      event: (event) => {
        const before = this.table.value;
        const published = event.snapshot_published?.snapshot;
        if (published) this.known({ ...published, seq: event.seq }, false);
        else if (before) this.table.value = applyEvent(before, event);
      },
      refused: (refusal) => {
        this.end();
        this.ports.refused(refusal);
      },
    });
  }

  /** Stops following the table: the player sits there, or has left the page. */
  end(): void {
    this.unwatch?.();
    this.unwatch = null;
    this.table.value = null;
    this.taking.value = null;
    this.lost.value = null;
  }

  /** Whether the player is asked for a seat, or soon will be, and is not just sitting down. */
  get asks(): boolean {
    return this.unwatch !== null && this.taking.value === null;
  }

  /** The platform says that the player sits there: an earlier page has asked for the seat. */
  seated(): void {
    if (!this.asks) return;
    this.end();
    this.ports.enter();
  }

  private known(table: TableSnapshot, seated: boolean): void {
    // The answer says what comes of sitting down.
    if (this.taking.value !== null) this.table.value = table;
    else if (seated || table.seats.length === 0 || table.disabled_reason) {
      this.end();
      this.ports.enter();
    } else {
      this.table.value = table;
      this.ports.choose();
    }
  }
}
