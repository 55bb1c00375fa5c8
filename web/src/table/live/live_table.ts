// One table as the page plays it: the public snapshot, the player's own seat, and the session. Independent of the game.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type {
  Any,
  Mode,
  OwnSeat,
  Params,
  Result,
  Session,
  SessionEnded,
  SessionNotice,
  TableEvent,
  TableSnapshot,
  Turn,
} from "../../api/messages";
import {
  call,
  enterAsGuest,
  identity,
  onFact,
  onOwnView,
  onResync,
  readBalance,
  requestId,
  updateBalance,
  watch,
} from "../../api/platform";
import { asRefusal, Refusal } from "../../api/refusal";
import { observeServerTime, observeSessionTime } from "../../api/server_clock";
import type { Unit } from "../../words/money";
import { applyEvent } from "./apply_event";
import { checkOverdueClosing } from "./closing_check";
import { DealingClock } from "./dealing";
import { OwnSeatReader } from "./own_seat_reader";
import { OwnView } from "./own_view";
import { SeatChoice } from "./seat_choice";

export type TableState = "entering" | "choosing" | "playing" | "left" | "refused";

export class LiveTable {
  /** The table that is played: at an individual table the player's own. */
  readonly tableId = signal("");
  readonly snapshot = signal<TableSnapshot | null>(null);
  readonly ownSeat = signal<OwnSeat | null>(null);
  readonly session = signal<Session | null>(null);
  /** The player's previous session here, which has to be shown. */
  readonly previousSession = signal<{ started_at: string; ended_at: string } | null>(null);
  readonly state = signal<TableState>("entering");
  readonly refusal = signal<Refusal | null>(null);
  /** The last notice of inactivity; after a reconnect the session's state replaces it. */
  readonly notice = signal<SessionNotice | null>(null);
  readonly ended = signal<SessionEnded | null>(null);
  /** Events arrive; false once the platform refuses them. */
  readonly followed = signal(true);

  readonly mode: ReadonlySignal<Mode> = computed(() => this.snapshot.value?.configuration?.mode ?? "MODE_REAL");
  /** What amounts at this table are of: money or credits, or chips without money value. */
  readonly unit: ReadonlySignal<Unit> = computed(() => (this.snapshot.value?.chips ? "CHIPS" : this.mode.value));
  readonly individual = computed(() => this.snapshot.value?.configuration?.play === "PLAY_INDIVIDUAL");
  /** The round that takes bets, while one does. */
  readonly openRound = computed(() => {
    const table = this.snapshot.value;
    // A session that ends with this round takes no more bets.
    const plays = this.state.value === "playing" && this.session.value?.state !== "SESSION_STATE_ENDING";
    return table?.phase === "PHASE_BETTING" && plays ? (table.round?.round_id ?? null) : null;
  });

  /** The turn in which players decide, while they do. */
  readonly turn: ReadonlySignal<Turn | null> = computed(() => this.snapshot.value?.round?.turn ?? null);
  /** What the player alone may see of the round, and whether they may decide. */
  readonly own = new OwnView({
    snapshot: this.snapshot,
    seat: this.ownSeat,
    read: () => this.seatReader.start(Number(this.snapshot.value?.seq ?? 0)),
  });

  /** Which seats are free, where players choose theirs. */
  readonly seatChoice = new SeatChoice({
    choose: () => {
      this.state.value = "choosing";
    },
    enter: () => void this.enter(),
    refused: (refusal) => this.refuse(refusal),
  });

  private readonly dealingClock = new DealingClock();
  /** Cards are being dealt on the screen: nothing may reveal what they decide. */
  readonly dealing: ReadonlySignal<boolean> = this.dealingClock.dealing;

  private eventListeners = new Set<(event: TableEvent, table: TableSnapshot) => void>();
  private snapshotListeners = new Set<(table: TableSnapshot, own: OwnSeat) => void>();
  private unsubscribers: (() => void)[] = [];
  private unwatch: () => void = () => undefined;
  private enterRequestId = requestId();
  private closed = false;
  /** The number of the last event that the own seat's answer includes; events up to it are still to arrive. */
  private includedSeq = 0;
  private readonly seatReader = new OwnSeatReader({
    read: () => call("TableService.GetTable", { table_id: this.tableId.value }),
    whole: (table, own) => {
      this.takeSnapshot(table, own);
      this.includedSeq = Number(table.seq);
    },
    event: (event) => this.deliver(event),
  });

  constructor(
    readonly listedId: string,
    private readonly demonstration: boolean,
    /** Others play here too: the player may have to choose a seat. */
    private readonly shared = false,
    /** The seat is given to the player: nobody enters, and there is no session. */
    readonly appointed = false,
  ) {
    this.unsubscribers.push(
      onFact((fact) => this.takeFact(fact)),
      onResync(() => {
        void this.readSession();
        this.own.mayHaveMissed();
      }),
      onOwnView((own) => own.table_id === this.tableId.value && this.own.changed(own)),
      this.dealingClock.follow(this.snapshot),
      this.own.follow(),
      checkOverdueClosing(this.snapshot),
    );
    this.join();
  }

  /** Calls the listener with each event, after the snapshot has been updated. */
  onEvent(listener: (event: TableEvent, table: TableSnapshot) => void): () => void {
    this.eventListeners.add(listener);
    return () => this.eventListeners.delete(listener);
  }

  /** Calls the listener with each whole snapshot: at the beginning, and when events were missed. */
  onSnapshot(listener: (table: TableSnapshot, own: OwnSeat) => void): () => void {
    this.snapshotListeners.add(listener);
    return () => this.snapshotListeners.delete(listener);
  }

  /** Sits down, at first or again after a session ended; the player is asked where, if that is for players to choose. */
  join(): void {
    if (!this.shared || this.appointed) {
      void this.enter();
      return;
    }
    this.state.value = "entering";
    this.seatChoice.follow(this.listedId);
  }

  /** Sits down on a seat that the player has chosen; 0 for any that is free. */
  async take(seat: number): Promise<void> {
    this.seatChoice.taking.value = seat;
    this.seatChoice.lost.value = null;
    await this.enter(seat);
  }

  private async enter(seat = 0): Promise<void> {
    this.state.value = "entering";
    this.refusal.value = null;
    this.ended.value = null;
    this.notice.value = null;
    try {
      if (identity.value.kind === "nobody" && this.demonstration) await enterAsGuest();
      const entered = this.appointed ? await this.readSeat() : await this.sitDown(seat);
      // The same id would return the same session: the next session needs another.
      this.enterRequestId = requestId();
      this.seatChoice.end();
      if (!entered.table) return;
      observeServerTime(entered.table.at);
      this.session.value = entered.session ?? null;
      if (entered.previous_session_started_at) {
        this.previousSession.value = {
          started_at: entered.previous_session_started_at,
          ended_at: entered.previous_session_ended_at ?? "",
        };
      }
      this.tableId.value = entered.table.table_id;
      // The player sits there, though the page has closed meanwhile: the table's tab says so.
      if (this.closed) this.ownSeat.value = entered.own_seat ?? null;
      this.state.value = "playing";
      if (this.closed) return;
      this.takeSnapshot(entered.table, entered.own_seat ?? null);
      this.unwatch();
      this.followed.value = true;
      this.unwatch = watch(entered.table.table_id, {
        snapshot: (table, own) => this.takeSnapshot(table, own),
        event: (event) => this.takeEvent(event),
        refused: (refusal) => void this.takeWatchRefusal(refusal),
      });
      void readBalance(this.mode.value).catch(() => undefined);
      // A session that was running already: only its summary says what its clock shows now.
      void this.readSession();
    } catch (error) {
      const refusal = asRefusal(error);
      // Another player was faster: the others are still to be chosen from. A guest who has just come has a new connection.
      if (refusal.reason === "SEAT_TAKEN" && !this.closed) {
        this.seatChoice.lost.value = seat;
        this.seatChoice.follow(this.listedId);
        return;
      }
      this.seatChoice.end();
      this.refuse(refusal);
    }
  }

  private sitDown(seat: number): Promise<Result<"TableService.EnterTable">> {
    return call("TableService.EnterTable", {
      table_id: this.listedId,
      request_id: this.enterRequestId,
      ...(seat ? { seat } : {}),
      device: { kind: "browser", agent: `feltro-web ${navigator.userAgent}`.slice(0, 200) },
    });
  }

  /** The table with the seat that the player has been given. */
  private async readSeat(): Promise<Partial<Result<"TableService.EnterTable">>> {
    const { table, own_seat } = await call("TableService.GetTable", { table_id: this.listedId });
    if (table && !own_seat) {
      this.snapshot.value = table;
      throw new Refusal("NOT_SEATED", {}, "", "The player has no seat here.");
    }
    return { ...(table && { table }), ...(own_seat && { own_seat }) };
  }

  /** Decides in the turn under way; the decision counts when the platform answers. */
  async act(move: Any): Promise<Result<"TableService.Act">> {
    const round = this.snapshot.value?.round;
    return call("TableService.Act", {
      table_id: this.tableId.value,
      round_id: round?.round_id ?? "",
      turn: round?.turn?.turn ?? 0,
      request_id: requestId(),
      move: move as Params<"TableService.Act">["move"],
    });
  }

  /** Ends the session; with stakes in the round it ends together with the round. */
  async leave(): Promise<SessionEnded | null> {
    const session_id = this.session.value?.session_id;
    if (!session_id) return null;
    const { session, summary } = await call("SessionService.EndSession", { session_id });
    this.session.value = session ?? null;
    if (session?.state === "SESSION_STATE_ENDED") this.sessionEnded(session, summary);
    return this.ended.value;
  }

  /** Stops following the table; the session goes on. */
  close(): void {
    this.closed = true;
    this.seatChoice.end();
    this.seatReader.cancel();
    this.unwatch();
    for (const end of this.unsubscribers.splice(0)) end();
  }

  private refuse(refusal: Refusal): void {
    this.refusal.value = refusal;
    this.state.value = "refused";
  }

  /** A session that ended while the connection was lost is shown with its summary; no refusal is needed then. */
  private async takeWatchRefusal(refusal: Refusal): Promise<void> {
    this.followed.value = false;
    await this.readSession();
    if (this.state.value === "playing") this.refuse(refusal);
  }

  private takeSnapshot(table: TableSnapshot, own: OwnSeat | null): void {
    this.includedSeq = 0;
    this.snapshot.value = table;
    if (!own) {
      this.seatReader.start(Number(table.seq));
      return;
    }
    this.seatReader.cancel();
    this.ownSeat.value = own;
    this.own.seatRead(table, own);
    for (const listener of this.snapshotListeners) listener(table, own);
  }

  private takeEvent(event: TableEvent): void {
    const published = event.snapshot_published?.snapshot;
    if (published) this.takeSnapshot({ ...published, seq: event.seq }, null);
    else if (!this.seatReader.hold(event)) this.deliver(event);
  }

  private deliver(event: TableEvent): void {
    const before = this.snapshot.value;
    if (!before || Number(event.seq) <= this.includedSeq) return;
    const now = applyEvent(before, event);
    this.snapshot.value = now;
    for (const listener of this.eventListeners) listener(event, now);
  }

  private takeFact(fact: Parameters<Parameters<typeof onFact>[0]>[0]): void {
    const ownSessionId = this.session.value?.session_id;
    if (fact.balance_changed?.balance) updateBalance(fact.balance_changed.balance);
    const started = fact.session_started?.session;
    if (started?.table_id === this.listedId && this.seatChoice.asks) void this.takeStarted(started.session_id);
    const notice = fact.session_notice;
    if (notice && notice.session_id === ownSessionId) {
      this.notice.value = notice;
    }
    const ended = fact.session_ended;
    if (ended?.session && ended.session.session_id === ownSessionId) this.sessionEnded(ended.session, ended.summary);
  }

  /** Sits down with a session that an earlier page has asked for, unless it is over: nobody begins one but the player. */
  private async takeStarted(session_id: string): Promise<void> {
    const { session } = await call("SessionService.GetSession", { session_id }).catch(() => ({ session: undefined }));
    if (session?.state === "SESSION_STATE_ACTIVE") this.seatChoice.seated();
  }

  private sessionEnded(session: Session, summary: SessionEnded["summary"]): void {
    this.session.value = session;
    this.notice.value = null;
    this.ended.value = summary ? { session, summary } : { session };
    this.state.value = "left";
  }

  private async readSession(): Promise<void> {
    const session_id = this.session.value?.session_id;
    if (!session_id || this.state.value !== "playing") return;
    const { session, summary } = await call("SessionService.GetSession", { session_id }).catch(() => ({
      session: undefined,
      summary: undefined,
    }));
    if (!session) return;
    this.session.value = session;
    this.notice.value = null;
    // The duration of a session that has not ended reaches until now.
    if (summary && session.started_at && !session.ended_at) {
      const now_ms = Date.parse(session.started_at) + Number(summary.duration_ms);
      observeSessionTime(new Date(now_ms).toISOString());
    }
    if (session.state === "SESSION_STATE_ENDED") this.sessionEnded(session, summary);
  }
}
