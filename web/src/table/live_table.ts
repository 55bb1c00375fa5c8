// A table as it is lived on this page: what everybody sees, the player's own seat, and his session. It knows no game.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Mode, OwnSeat, Session, SessionEnded, SessionNotice, TableEvent, TableSnapshot } from "../api/messages";
import { call, enterAsGuest, newer, onAfresh, onFact, readBalance, requestId, watch, who } from "../api/platform";
import { Refusal } from "../api/refusal";
import { heardAt } from "../api/server_clock";
import { heedOverdue } from "./overdue";
import { after } from "./picture";

export type Doing = "entering" | "playing" | "left" | "refused";

export class LiveTable {
  /** The table that is played: at an individual table the player's own. */
  readonly tableId = signal("");
  readonly snapshot = signal<TableSnapshot | null>(null);
  readonly own = signal<OwnSeat | null>(null);
  readonly session = signal<Session | null>(null);
  /** When he was here before; he has to be told. */
  readonly previous = signal<{ started_at: string; ended_at: string } | null>(null);
  readonly doing = signal<Doing>("entering");
  readonly refusal = signal<Refusal | null>(null);
  /** What was said last of inactivity; after a reconnect the session says where he stands. */
  readonly notice = signal<SessionNotice | null>(null);
  readonly ended = signal<SessionEnded | null>(null);

  readonly mode: ReadonlySignal<Mode> = computed(() => this.snapshot.value?.configuration?.mode ?? "MODE_REAL");
  readonly individual = computed(() => this.snapshot.value?.configuration?.play === "PLAY_INDIVIDUAL");
  /** The round that takes bets, while one does. */
  readonly openRound = computed(() => {
    const table = this.snapshot.value;
    // A session that ends with this round takes no more bets.
    const plays = this.doing.value === "playing" && this.session.value?.state !== "SESSION_STATE_ENDING";
    return table?.phase === "PHASE_BETTING" && plays ? (table.round?.round_id ?? null) : null;
  });

  private listeners = new Set<(event: TableEvent, table: TableSnapshot) => void>();
  private pictures = new Set<(table: TableSnapshot, own: OwnSeat) => void>();
  private ends: (() => void)[] = [];
  private unwatch: () => void = () => undefined;
  private entering = requestId();
  private closed = false;

  constructor(
    readonly listedId: string,
    private readonly wantsCredits: boolean,
  ) {
    this.ends.push(
      onFact((fact) => this.fact(fact)),
      onAfresh(() => void this.readSession()),
      heedOverdue(this.snapshot),
    );
    void this.enter();
  }

  /** Hear what happens, after the snapshot has taken it in. */
  onEvent(listener: (event: TableEvent, table: TableSnapshot) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Everything is shown anew: at the beginning, and when something was missed. */
  onPicture(listener: (table: TableSnapshot, own: OwnSeat) => void): () => void {
    this.pictures.add(listener);
    return () => this.pictures.delete(listener);
  }

  /** Sit down (again, after a session ended). */
  async enter(): Promise<void> {
    this.doing.value = "entering";
    this.refusal.value = null;
    this.ended.value = null;
    this.notice.value = null;
    try {
      if (who.value.kind === "nobody" && this.wantsCredits) await enterAsGuest();
      const entered = await call("TableService.EnterTable", {
        table_id: this.listedId,
        request_id: this.entering,
        device: { kind: "browser", agent: `feltro-web ${navigator.userAgent}`.slice(0, 200) },
      });
      // The same name would start the same session again; the next one needs another.
      this.entering = requestId();
      if (!entered.table || this.closed) return;
      heardAt(entered.table.at);
      this.session.value = entered.session ?? null;
      if (entered.previous_session_started_at) {
        this.previous.value = {
          started_at: entered.previous_session_started_at,
          ended_at: entered.previous_session_ended_at ?? "",
        };
      }
      this.tableId.value = entered.table.table_id;
      this.doing.value = "playing";
      this.picture(entered.table, entered.own ?? null);
      this.unwatch();
      this.unwatch = watch(entered.table.table_id, {
        picture: (table, own) => this.picture(table, own),
        happened: (event) => this.happened(event),
        // One who has left needs not be told that the table is his no more.
        refused: (refusal) => this.doing.value === "playing" && this.refuse(refusal),
      });
      void readBalance(this.mode.value).catch(() => undefined);
    } catch (error) {
      this.refuse(error instanceof Refusal ? error : new Refusal("", {}, "", String(error)));
    }
  }

  /** End the session; with chips on the felt it ends with the round. */
  async leave(): Promise<SessionEnded | null> {
    const session_id = this.session.value?.session_id;
    if (!session_id) return null;
    const { session, summary } = await call("SessionService.EndSession", { session_id });
    this.session.value = session ?? null;
    if (session?.state === "SESSION_STATE_ENDED") this.over(session, summary);
    return this.ended.value;
  }

  /** The page is left; the session goes on until he ends it or the rules do. */
  close(): void {
    this.closed = true;
    this.unwatch();
    for (const end of this.ends.splice(0)) end();
  }

  private refuse(refusal: Refusal): void {
    this.refusal.value = refusal;
    this.doing.value = "refused";
  }

  private picture(table: TableSnapshot, own: OwnSeat | null): void {
    this.snapshot.value = table;
    if (own) this.seat(table, own);
    else void this.readOwn();
  }

  private seat(table: TableSnapshot, own: OwnSeat): void {
    this.own.value = own;
    for (const listener of this.pictures) listener(table, own);
  }

  /** Some pictures show what everybody sees, and not what lies there of his own. */
  private async readOwn(): Promise<void> {
    const asked = await call("TableService.GetTable", { table_id: this.tableId.value }).catch(() => null);
    const table = this.snapshot.value;
    // In another round nothing of it would be true any more.
    if (asked?.own && table && asked.table?.round?.round_id === table.round?.round_id) this.seat(table, asked.own);
  }

  private happened(event: TableEvent): void {
    const before = this.snapshot.value;
    if (!before) return;
    if (event.table_taken?.snapshot) {
      this.picture(event.table_taken.snapshot, null);
      return;
    }
    const now = after(before, event);
    this.snapshot.value = now;
    for (const listener of this.listeners) listener(event, now);
  }

  private fact(fact: Parameters<Parameters<typeof onFact>[0]>[0]): void {
    const mine = this.session.value?.session_id;
    if (fact.balance_changed?.balance) newer(fact.balance_changed.balance);
    const notice = fact.session_notice;
    if (notice && notice.session_id === mine) {
      this.notice.value = notice;
    }
    const ended = fact.session_ended;
    if (ended?.session && ended.session.session_id === mine) this.over(ended.session, ended.summary);
  }

  private over(session: Session, summary: SessionEnded["summary"]): void {
    this.session.value = session;
    this.notice.value = null;
    this.ended.value = summary ? { session, summary } : { session };
    this.doing.value = "left";
  }

  private async readSession(): Promise<void> {
    const session_id = this.session.value?.session_id;
    if (!session_id || this.doing.value !== "playing") return;
    const { session, summary } = await call("SessionService.GetSession", { session_id }).catch(() => ({
      session: undefined,
      summary: undefined,
    }));
    if (!session) return;
    this.session.value = session;
    this.notice.value = null;
    if (session.state === "SESSION_STATE_ENDED") this.over(session, summary);
  }
}
