// The one line to the platform: JSON-RPC 2.0 over a WebSocket that comes back by itself.
//
// Every call is sent again on the next connection until it is answered: reads change nothing, and commands act once,
// however often they are sent (G3). Tables that are watched go on where they stood. A line on which nothing is heard
// any more is lost too, whether or not the browser has noticed.
import { signal } from "@preact/signals";
import type { MethodName, OwnSeat, Params, PlayerFact, Result, TableEvent, TableSnapshot } from "./messages";
import { Abandoned, Refusal, UNSURE } from "./refusal";
import { heardAt, sessionHeardAt } from "./server_clock";
import { Silence } from "./silence";

/** What is told of a table that is watched: everything anew, or what has happened since. */
export interface TableListener {
  picture(table: TableSnapshot, own: OwnSeat | null): void;
  happened(event: TableEvent): void;
  /** It cannot be watched: it is gone, or another player's. */
  refused(refusal: Refusal): void;
}

/** Who speaks on the line. */
export interface Bearer {
  /** A token that holds; null for a visitor. `anew` if the one before was refused. */
  token(anew: boolean): Promise<string | null>;
  /** The token opens nothing any more: he has to log in. */
  shutOut(reason: string): void;
}

export type LineState = "connecting" | "open" | "lost";

interface Call {
  id: number;
  method: string;
  params: object;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  tries: number;
}

interface Watched {
  listener: TableListener;
  seen: number | null;
}

const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 15_000;
// A connection that is made and not answered is as good as none.
const ANSWER_WITHIN_MS = 12_000;
const TRIES = 6;
const CLOSE_TOKEN_EXPIRED = 4401;
const CLOSE_LOGIN_NEEDED = 4402;
const CLOSE_TOKEN_REVOKED = 4403;
const UNANSWERED = new Set(["TOKEN_EXPIRED", "TOKEN_REVOKED", "LOGIN_NEEDED", "TOKEN_INVALID"]);

export class Connection {
  /** Whether the platform hears us. */
  readonly state = signal<LineState>("connecting");

  private socket: WebSocket | null = null;
  private calls = new Map<number, Call>();
  private watched = new Map<string, Watched>();
  private factListeners = new Set<(fact: PlayerFact) => void>();
  private afresh = new Set<() => void>();
  private lastId = 0;
  private pause_ms = FIRST_PAUSE_MS;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private tokenRefused = false;
  private closed = false;
  private readonly silence = new Silence(
    () => void this.now("ping", {}).catch(() => undefined),
    () => this.drop(),
  );

  constructor(
    private readonly address: string,
    private readonly bearer: Bearer,
  ) {
    this.connect();
    addEventListener("online", this.hurry);
    addEventListener("offline", this.drop);
    document.addEventListener("visibilitychange", this.hurry);
  }

  /** Ask the platform; the answer, or a Refusal. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.ask(method, params) as Promise<Result<M>>;
  }

  /** Watch a table from now on; what is returned ends it. */
  watch(tableId: string, listener: TableListener): () => void {
    const watched: Watched = { listener, seen: null };
    this.watched.set(tableId, watched);
    if (this.state.value === "open") void this.subscribe(tableId, watched);
    return () => {
      if (this.watched.get(tableId) !== watched) return;
      this.watched.delete(tableId);
      if (this.state.value === "open") this.ask("unsubscribe", { table_id: tableId }).catch(() => undefined);
    };
  }

  /** Hear the player's private facts. */
  onFact(listener: (fact: PlayerFact) => void): () => void {
    this.factListeners.add(listener);
    return () => this.factListeners.delete(listener);
  }

  /** Private facts are not numbered: whenever some may have been missed, what they said is to be read. */
  onAfresh(listener: () => void): () => void {
    this.afresh.add(listener);
    return () => this.afresh.delete(listener);
  }

  /** Something should have been heard by now: is anybody there? */
  doubt(): void {
    if (this.state.value === "open") this.silence.doubt();
  }

  /** Hang up for good. */
  close(): void {
    this.closed = true;
    this.state.value = "lost";
    clearTimeout(this.retry);
    this.silence.end();
    removeEventListener("online", this.hurry);
    removeEventListener("offline", this.drop);
    document.removeEventListener("visibilitychange", this.hurry);
    for (const call of this.calls.values()) call.reject(new Abandoned());
    this.calls.clear();
    this.socket?.close(1000);
  }

  private ask(method: string, params: object): Promise<unknown> {
    if (this.closed) return Promise.reject(new Abandoned());
    return new Promise((resolve, reject) => {
      const call: Call = { id: ++this.lastId, method, params, resolve, reject, tries: 0 };
      this.calls.set(call.id, call);
      if (this.state.value === "open") this.send(call);
    });
  }

  private send(call: Call): void {
    // A connection that is about to end takes nothing any more: what waits goes over the next one.
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    call.tries += 1;
    const { id, method, params } = call;
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    if (this.state.value === "open") this.silence.awaits();
  }

  /** Calls that belong to one connection only are not sent again on the next. */
  private now(method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call: Call = { id: ++this.lastId, method, params, resolve, reject, tries: TRIES };
      this.calls.set(call.id, call);
      this.send(call);
    });
  }

  /** Whoever has been away, or on another network, finds out at once how the line is. */
  private hurry = (): void => {
    if (this.closed || document.visibilityState === "hidden") return;
    if (this.state.value === "open") this.doubt();
    if (this.state.value !== "lost" || this.socket) return;
    clearTimeout(this.retry);
    this.connect();
  };

  /** Nothing comes over this connection any more. A browser may take minutes to close it, and is not waited for. */
  private drop = (): void => {
    const socket = this.socket;
    if (!socket || this.closed) return;
    this.lost(0);
    socket.close(4000);
  };

  private connect(): void {
    const socket = new WebSocket(this.address);
    this.socket = socket;
    const impatient = setTimeout(() => socket.close(4000), ANSWER_WITHIN_MS);
    socket.onopen = () => {
      this.greet(socket).then(
        () => clearTimeout(impatient),
        (error) => this.greetingFailed(socket, error),
      );
    };
    socket.onmessage = ({ data }) => {
      if (this.socket === socket) this.heard(JSON.parse(data));
    };
    socket.onclose = ({ code }) => {
      clearTimeout(impatient);
      if (this.socket === socket && !this.closed) this.lost(code);
    };
  }

  private async greet(socket: WebSocket): Promise<void> {
    const token = await this.bearer.token(this.tokenRefused);
    if (this.socket !== socket || socket.readyState !== WebSocket.OPEN) return;
    if (token) await this.now("authenticate", { token });
    this.tokenRefused = false;
    this.pause_ms = FIRST_PAUSE_MS;
    this.state.value = "open";
    this.silence.heard(false);
    const waiting = [...this.calls.values()].sort((one, other) => one.id - other.id);
    for (const [tableId, watched] of this.watched) void this.subscribe(tableId, watched);
    for (const call of waiting) this.send(call);
    for (const listener of this.afresh) listener();
  }

  private greetingFailed(socket: WebSocket, error: unknown): void {
    if (error instanceof Refusal && UNANSWERED.has(error.reason)) {
      if (this.tokenRefused || error.reason !== "TOKEN_EXPIRED") this.bearer.shutOut(error.reason);
      this.tokenRefused = true;
    }
    socket.close(4000);
  }

  private lost(code: number): void {
    this.socket = null;
    this.state.value = "lost";
    this.silence.end();
    if (code === CLOSE_TOKEN_EXPIRED) this.tokenRefused = true;
    if (code === CLOSE_LOGIN_NEEDED) this.bearer.shutOut("LOGIN_NEEDED");
    if (code === CLOSE_TOKEN_REVOKED) this.bearer.shutOut("TOKEN_REVOKED");
    for (const call of [...this.calls.values()]) {
      if (call.tries < TRIES) continue;
      this.calls.delete(call.id);
      call.reject(new Refusal("", {}, "", "The connection was lost."));
    }
    if (this.closed) return;
    this.retry = setTimeout(() => this.connect(), this.pause_ms * (0.5 + Math.random() / 2));
    this.pause_ms = Math.min(2 * this.pause_ms, LONGEST_PAUSE_MS);
  }

  private async subscribe(tableId: string, watched: Watched): Promise<void> {
    const params = watched.seen === null ? { table_id: tableId } : { table_id: tableId, from_seq: watched.seen };
    try {
      const opened = (await this.now("subscribe", params)) as {
        resumed: boolean;
        table?: TableSnapshot;
        own?: OwnSeat | null;
      };
      if (opened.resumed || !opened.table || this.watched.get(tableId) !== watched) return;
      watched.seen = Number(opened.table.seq);
      heardAt(opened.table.at);
      watched.listener.picture(opened.table, opened.own ?? null);
    } catch (error) {
      if (!(error instanceof Refusal) || this.watched.get(tableId) !== watched) return;
      if (UNSURE.has(error.reason)) setTimeout(() => this.again(tableId, watched), FIRST_PAUSE_MS * 2);
      else watched.listener.refused(error);
    }
  }

  private again(tableId: string, watched: Watched): void {
    if (this.watched.get(tableId) === watched && this.state.value === "open") void this.subscribe(tableId, watched);
  }

  private heard(said: Said): void {
    if (said.method !== undefined) this.told(said.method, said.params);
    else this.answered(said);
    if (this.state.value === "open") this.silence.heard(this.calls.size > 0);
  }

  private answered(said: Answer): void {
    const call = this.calls.get(said.id);
    if (!call) return;
    if (said.error) {
      this.failed(call, said.error);
      return;
    }
    this.calls.delete(call.id);
    call.resolve(said.result);
  }

  private failed(call: Call, error: Failure): void {
    const { reason = "", facts = {}, trace_id = "" } = error.data ?? {};
    const refusal = new Refusal(reason, facts, trace_id, error.message);
    if (UNSURE.has(reason) && error.data?.status !== 400 && call.tries < TRIES) {
      const pause_ms = Math.max(Number(facts["retry_after_ms"] ?? 0), FIRST_PAUSE_MS * 2 ** (call.tries - 1));
      setTimeout(() => {
        if (this.calls.has(call.id) && this.state.value === "open") this.send(call);
      }, pause_ms);
      return;
    }
    this.calls.delete(call.id);
    call.reject(refusal);
  }

  private told(method: string, params: Told): void {
    if (method === "player") {
      const fact = params as PlayerFact;
      if (fact.session_started || fact.session_notice || fact.session_ended) sessionHeardAt(fact.at);
      else heardAt(fact.at);
      for (const listener of this.factListeners) listener(fact);
    } else if (method === "table") this.happened(params as TableEvent);
    else if (method === "snapshot") this.pictured(params as { table_id: string; table: TableSnapshot });
    else if (method === "notice") this.noticed(params as Notice);
  }

  private happened(event: TableEvent): void {
    const watched = this.watched.get(event.table_id);
    if (!watched) return;
    heardAt(event.at);
    const seq = Number(event.seq);
    // A gap would be a fault of the platform: everything is asked for anew.
    if (!event.table_taken && watched.seen !== null && seq !== watched.seen + 1) {
      if (seq <= watched.seen) return;
      watched.seen = null;
      void this.subscribe(event.table_id, watched);
      return;
    }
    watched.seen = seq;
    watched.listener.happened(event);
  }

  private pictured({ table_id, table }: { table_id: string; table: TableSnapshot }): void {
    const watched = this.watched.get(table_id);
    if (!watched) return;
    watched.seen = Number(table.seq);
    heardAt(table.at);
    watched.listener.picture(table, null);
  }

  private noticed(notice: Notice): void {
    if (notice.kind === "token_expires") void this.refresh();
    else if (notice.kind === "draining") this.pause_ms = notice.reconnect_after_ms ?? FIRST_PAUSE_MS;
    else if (notice.kind === "facts_missed") for (const listener of this.afresh) listener();
    else if (notice.kind === "unsubscribed" && notice.table_id) {
      const watched = this.watched.get(notice.table_id);
      if (watched) setTimeout(() => this.again(notice.table_id as string, watched), FIRST_PAUSE_MS);
    }
  }

  private async refresh(): Promise<void> {
    const token = await this.bearer.token(true);
    if (token && this.state.value === "open") await this.now("refresh", { token }).catch(() => undefined);
  }
}

interface Failure {
  code: number;
  message: string;
  data?: { reason?: string; facts?: Record<string, string>; trace_id?: string; status?: number };
}

interface Notice {
  kind: string;
  table_id?: string;
  reconnect_after_ms?: number;
}

type Told = TableEvent | PlayerFact | Notice | { table_id: string; table: TableSnapshot };

interface Answer {
  method?: undefined;
  id: number;
  result?: unknown;
  error?: Failure;
}

type Said = { method: string; params: Told } | Answer;
