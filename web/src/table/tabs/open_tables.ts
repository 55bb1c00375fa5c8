// The tables at which the player sits in this window. The one on the screen follows itself; the others are followed here, as far
// as to know whether it is the player's turn there.
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import type { OwnSeat, PlayerFact, TableSnapshot } from "../../api/messages";
import type { watch as watchTable } from "../../api/platform";
import { applyEvent } from "../live/apply_event";

/** What calls for the player: their turn, or a notice that the session is about to end. */
export type TableCall = "turn" | "notice" | null;

export interface OpenTable {
  /** The id under which the table is listed, which is its page's. */
  listedId: string;
  /** The table that is played: at an individual table the player's own. */
  tableId: string;
  sessionId: string;
  seat: number | undefined;
  call: TableCall;
}

interface Ports {
  watch: typeof watchTable;
  onFact(listener: (fact: PlayerFact) => void): () => void;
  /** A session has ended at a table that was not on the screen. */
  ended(table: OpenTable): void;
}

export class OpenTables {
  /** In the order in which they were opened. */
  readonly all: ReadonlySignal<readonly OpenTable[]>;
  private readonly tables = signal<readonly OpenTable[]>([]);
  /** The listed id of the table on the screen; empty while there is none. */
  private readonly shown = signal("");
  private readonly followed = new Map<string, () => void>();

  constructor(private readonly ports: Ports) {
    this.all = this.tables;
    effect(() => this.followOthers());
    ports.onFact((fact) => this.takeFact(fact));
  }

  /** The player sits at the table on the screen. */
  opened(table: Omit<OpenTable, "call">): void {
    const known = this.tables.peek().some(({ listedId }) => listedId === table.listedId);
    const opened: OpenTable = { ...table, call: null };
    this.tables.value = known
      ? this.tables.peek().map((each) => (each.listedId === table.listedId ? opened : each))
      : [...this.tables.peek(), opened];
  }

  /** The player has left a table. */
  left(listedId: string): void {
    if (this.find(listedId)) this.tables.value = this.tables.peek().filter((each) => each.listedId !== listedId);
  }

  /** Says which table is on the screen; the returned function says that it is not any more. */
  show(listedId: string): () => void {
    this.shown.value = listedId;
    this.calls(listedId, null);
    return () => {
      if (this.shown.peek() === listedId) this.shown.value = "";
    };
  }

  /** Somebody else plays in this window now. */
  forget(): void {
    this.tables.value = [];
  }

  /** Follows every table but the one on the screen, and none while the screen shows no table. */
  private followOthers(): void {
    const shown = this.shown.value;
    const others = new Set(shown ? this.tables.value.map(({ listedId }) => listedId) : []);
    others.delete(shown);
    for (const [listedId, end] of this.followed) {
      if (others.has(listedId)) continue;
      this.followed.delete(listedId);
      end();
    }
    for (const listedId of others) {
      const table = this.find(listedId);
      if (table && !this.followed.has(listedId)) this.followed.set(listedId, this.follow(table));
    }
  }

  private follow({ listedId, tableId, seat: known }: OpenTable): () => void {
    let seat = known;
    let table: TableSnapshot | null = null;
    const take = (now: TableSnapshot, own: OwnSeat | null) => {
      table = now;
      seat = own?.seat ?? seat;
      this.turn(listedId, isTurnOf(table, seat));
    };
    return this.ports.watch(tableId, {
      snapshot: take,
      event: (event) => {
        const published = event.snapshot_published?.snapshot;
        if (published) take({ ...published, seq: event.seq }, null);
        else if (table) take(applyEvent(table, event), null);
      },
      // Its page says why; here it calls for nobody.
      refused: () => this.turn(listedId, false),
    });
  }

  private turn(listedId: string, asked: boolean): void {
    const known = this.find(listedId)?.call;
    if (asked) this.calls(listedId, "turn");
    else if (known === "turn") this.calls(listedId, null);
  }

  private calls(listedId: string, call: TableCall): void {
    const known = this.find(listedId);
    if (!known || known.call === call) return;
    this.tables.value = this.tables.peek().map((each) => (each.listedId === listedId ? { ...each, call } : each));
  }

  private takeFact({ session_notice: notice, session_ended: ended }: PlayerFact): void {
    const of = (session_id: string | undefined) => this.tables.peek().find(({ sessionId }) => sessionId === session_id);
    const noticed = of(notice?.session_id);
    // At the table on the screen its own page says it.
    if (noticed && noticed.listedId !== this.shown.peek()) this.calls(noticed.listedId, "notice");
    const over = of(ended?.session?.session_id);
    if (!over || over.listedId === this.shown.peek()) return;
    this.left(over.listedId);
    this.ports.ended(over);
  }

  private find(listedId: string): OpenTable | undefined {
    return this.tables.peek().find((each) => each.listedId === listedId);
  }
}

function isTurnOf(table: TableSnapshot, seat: number | undefined): boolean {
  return seat !== undefined && (table.round?.turn?.seats.includes(seat) ?? false);
}
