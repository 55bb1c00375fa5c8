// The page's connection to the platform: JSON-RPC 2.0 over a WebSocket that reconnects by itself.
//
// Every call is sent again on the next connection until it is answered: reads change nothing, and commands act once,
// however often they are sent (G3). Subscriptions resume after the last event received. A connection on which nothing
// arrives any more counts as lost, whether or not the browser has noticed.
import { signal } from "@preact/signals";
import { Heartbeat } from "./heartbeat";
import type {
  MethodName,
  OwnSeat,
  OwnViewChanged,
  Params,
  PlayerFact,
  Result,
  TableEvent,
  TableSnapshot,
} from "./messages";
import { CallAbandoned, OUTCOME_UNKNOWN, Refusal } from "./refusal";
import { observeServerTime, observeSessionTime } from "./server_clock";
import { newTraceparent } from "./traceparent";

/** Receives what happens at a subscribed table: a whole snapshot, or one event after another. */
export interface TableListener {
  snapshot(table: TableSnapshot, own: OwnSeat | null): void;
  event(event: TableEvent): void;
  /** The table cannot be followed: it does not exist, or it is individual and the player does not sit there. */
  refused(refusal: Refusal): void;
}

/** Provides the token that authenticates the connection. */
export interface Credentials {
  /** A valid token; null without a login. `renew` when the last one was refused. */
  token(renew: boolean): Promise<string | null>;
  /** The platform refuses the token for good: the player has to log in again. */
  rejected(reason: string): void;
}

export type ConnectionState = "connecting" | "open" | "lost";

interface Call {
  id: number;
  method: string;
  params: object;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  tries: number;
}

interface Subscription {
  listener: TableListener;
  seq: number | null;
}

const FIRST_RETRY_MS = 400;
const LONGEST_RETRY_MS = 15_000;
// A connection that opens and never answers is closed and tried again.
const OPEN_WITHIN_MS = 12_000;
const MAX_TRIES = 6;
const CLOSE_TOKEN_EXPIRED = 4401;
const CLOSE_LOGIN_NEEDED = 4402;
const CLOSE_TOKEN_REVOKED = 4403;
const TOKEN_REFUSALS = new Set(["TOKEN_EXPIRED", "TOKEN_REVOKED", "LOGIN_NEEDED", "TOKEN_INVALID"]);

export class Connection {
  /** Whether calls reach the platform. */
  readonly state = signal<ConnectionState>("connecting");

  private socket: WebSocket | null = null;
  private calls = new Map<number, Call>();
  private subscriptions = new Map<string, Subscription>();
  private factListeners = new Set<(fact: PlayerFact) => void>();
  private ownViewListeners = new Set<(own: OwnViewChanged) => void>();
  private resyncListeners = new Set<() => void>();
  private lastId = 0;
  private retry_ms = FIRST_RETRY_MS;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private tokenRefused = false;
  private closed = false;
  private readonly heartbeat = new Heartbeat(
    () => void this.requestOnce("ping", {}).catch(() => undefined),
    () => this.drop(),
  );

  constructor(
    private readonly address: string,
    private readonly credentials: Credentials,
  ) {
    this.connect();
    addEventListener("online", this.reconnectSoon);
    addEventListener("offline", this.drop);
    document.addEventListener("visibilitychange", this.reconnectSoon);
  }

  /** Calls a method of the platform; resolves with its answer or rejects with a Refusal. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.request(method, isCommand(params) ? traced(params) : params) as Promise<Result<M>>;
  }

  /** Subscribes to a table; the returned function unsubscribes. */
  watch(tableId: string, listener: TableListener): () => void {
    const subscription: Subscription = { listener, seq: null };
    this.subscriptions.set(tableId, subscription);
    if (this.state.value === "open") void this.subscribe(tableId, subscription);
    return () => {
      if (this.subscriptions.get(tableId) !== subscription) return;
      this.subscriptions.delete(tableId);
      if (this.state.value === "open") this.request("unsubscribe", { table_id: tableId }).catch(() => undefined);
    };
  }

  /** Calls the listener with each of the player's private facts. */
  onFact(listener: (fact: PlayerFact) => void): () => void {
    this.factListeners.add(listener);
    return () => this.factListeners.delete(listener);
  }

  /** Calls the listener with each change of what the player alone may see of a round. */
  onOwnView(listener: (own: OwnViewChanged) => void): () => void {
    this.ownViewListeners.add(listener);
    return () => this.ownViewListeners.delete(listener);
  }

  /** Calls the listener whenever private facts may have been missed: they carry no sequence numbers, so state is read again. */
  onResync(listener: () => void): () => void {
    this.resyncListeners.add(listener);
    return () => this.resyncListeners.delete(listener);
  }

  /** Checks that the platform is still there, because something expected has not arrived. */
  checkAlive(): void {
    if (this.state.value === "open") this.heartbeat.check();
  }

  /** Closes the connection for good. */
  close(): void {
    this.closed = true;
    this.state.value = "lost";
    clearTimeout(this.retryTimer);
    this.heartbeat.stop();
    removeEventListener("online", this.reconnectSoon);
    removeEventListener("offline", this.drop);
    document.removeEventListener("visibilitychange", this.reconnectSoon);
    for (const call of this.calls.values()) call.reject(new CallAbandoned());
    this.calls.clear();
    this.socket?.close(1000);
  }

  private request(method: string, params: object): Promise<unknown> {
    if (this.closed) return Promise.reject(new CallAbandoned());
    return new Promise((resolve, reject) => {
      const call: Call = { id: ++this.lastId, method, params, resolve, reject, tries: 0 };
      this.calls.set(call.id, call);
      if (this.state.value === "open") this.send(call);
    });
  }

  private send(call: Call): void {
    // A closing socket takes no more messages: the call is sent on the next connection.
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    call.tries += 1;
    const { id, method, params } = call;
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    if (this.state.value === "open") this.heartbeat.requestSent();
  }

  /** Sends a call that belongs to this connection only and is not repeated on the next. */
  private requestOnce(method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call: Call = { id: ++this.lastId, method, params, resolve, reject, tries: MAX_TRIES };
      this.calls.set(call.id, call);
      this.send(call);
    });
  }

  /** Reconnects, or checks the connection, as soon as the page is visible or the network is back. */
  private reconnectSoon = (): void => {
    if (this.closed || document.visibilityState === "hidden") return;
    if (this.state.value === "open") this.checkAlive();
    if (this.state.value !== "lost" || this.socket) return;
    clearTimeout(this.retryTimer);
    this.connect();
  };

  /** Gives the connection up: a browser may take minutes to close a dead socket. */
  private drop = (): void => {
    const socket = this.socket;
    if (!socket || this.closed) return;
    this.disconnected(0);
    socket.close(4000);
  };

  private connect(): void {
    const socket = new WebSocket(this.address);
    this.socket = socket;
    const timeout = setTimeout(() => socket.close(4000), OPEN_WITHIN_MS);
    socket.onopen = () => {
      this.authenticate(socket).then(
        () => clearTimeout(timeout),
        (error) => this.authenticationFailed(socket, error),
      );
    };
    socket.onmessage = ({ data }) => {
      if (this.socket === socket) this.received(JSON.parse(data));
    };
    socket.onclose = ({ code }) => {
      clearTimeout(timeout);
      if (this.socket === socket && !this.closed) this.disconnected(code);
    };
  }

  private async authenticate(socket: WebSocket): Promise<void> {
    const token = await this.credentials.token(this.tokenRefused);
    if (this.socket !== socket || socket.readyState !== WebSocket.OPEN) return;
    if (token) await this.requestOnce("authenticate", { token });
    this.tokenRefused = false;
    this.retry_ms = FIRST_RETRY_MS;
    this.state.value = "open";
    this.heartbeat.received(false);
    const waiting = [...this.calls.values()].sort((one, other) => one.id - other.id);
    for (const [tableId, subscription] of this.subscriptions) void this.subscribe(tableId, subscription);
    for (const call of waiting) this.send(call);
    for (const listener of this.resyncListeners) listener();
  }

  private authenticationFailed(socket: WebSocket, error: unknown): void {
    if (error instanceof Refusal && TOKEN_REFUSALS.has(error.reason)) {
      if (this.tokenRefused || error.reason !== "TOKEN_EXPIRED") this.credentials.rejected(error.reason);
      this.tokenRefused = true;
    }
    socket.close(4000);
  }

  private disconnected(code: number): void {
    this.socket = null;
    this.state.value = "lost";
    this.heartbeat.stop();
    if (code === CLOSE_TOKEN_EXPIRED) this.tokenRefused = true;
    if (code === CLOSE_LOGIN_NEEDED) this.credentials.rejected("LOGIN_NEEDED");
    if (code === CLOSE_TOKEN_REVOKED) this.credentials.rejected("TOKEN_REVOKED");
    for (const call of [...this.calls.values()]) {
      if (call.tries < MAX_TRIES) continue;
      this.calls.delete(call.id);
      call.reject(new Refusal("", {}, "", "The connection was lost."));
    }
    if (this.closed) return;
    this.retryTimer = setTimeout(() => this.connect(), this.retry_ms * (0.5 + Math.random() / 2));
    this.retry_ms = Math.min(2 * this.retry_ms, LONGEST_RETRY_MS);
  }

  private async subscribe(tableId: string, subscription: Subscription): Promise<void> {
    const params =
      subscription.seq === null ? { table_id: tableId } : { table_id: tableId, from_seq: subscription.seq };
    try {
      const opened = (await this.requestOnce("subscribe", params)) as {
        resumed: boolean;
        table?: TableSnapshot;
        own_seat?: OwnSeat | null;
      };
      if (opened.resumed || !opened.table || this.subscriptions.get(tableId) !== subscription) return;
      subscription.seq = Number(opened.table.seq);
      observeServerTime(opened.table.at);
      subscription.listener.snapshot(opened.table, opened.own_seat ?? null);
    } catch (error) {
      if (!(error instanceof Refusal) || this.subscriptions.get(tableId) !== subscription) return;
      if (OUTCOME_UNKNOWN.has(error.reason))
        setTimeout(() => this.resubscribe(tableId, subscription), FIRST_RETRY_MS * 2);
      else subscription.listener.refused(error);
    }
  }

  private resubscribe(tableId: string, subscription: Subscription): void {
    if (this.subscriptions.get(tableId) === subscription && this.state.value === "open")
      void this.subscribe(tableId, subscription);
  }

  private received(message: Message): void {
    if (message.method !== undefined) this.notified(message.method, message.params);
    else this.answered(message);
    if (this.state.value === "open") this.heartbeat.received(this.calls.size > 0);
  }

  private answered(message: Answer): void {
    const call = this.calls.get(message.id);
    if (!call) return;
    if (message.error) {
      this.failed(call, message.error);
      return;
    }
    this.calls.delete(call.id);
    call.resolve(message.result);
  }

  private failed(call: Call, error: CallError): void {
    const { reason = "", facts = {}, trace_id = "" } = error.data ?? {};
    const refusal = new Refusal(reason, facts, trace_id, error.message);
    if (OUTCOME_UNKNOWN.has(reason) && error.data?.status !== 400 && call.tries < MAX_TRIES) {
      const pause_ms = Math.max(Number(facts["retry_after_ms"] ?? 0), FIRST_RETRY_MS * 2 ** (call.tries - 1));
      setTimeout(() => {
        if (this.calls.has(call.id) && this.state.value === "open") this.send(call);
      }, pause_ms);
      return;
    }
    this.calls.delete(call.id);
    call.reject(refusal);
  }

  private notified(method: string, params: NotificationParams): void {
    if (method === "player") {
      const fact = params as PlayerFact;
      if (fact.session_started || fact.session_notice || fact.session_ended) observeSessionTime(fact.at);
      else observeServerTime(fact.at);
      for (const listener of this.factListeners) listener(fact);
    } else if (method === "own_view") {
      for (const listener of this.ownViewListeners) listener(params as OwnViewChanged);
    } else if (method === "table") this.tableEvent(params as TableEvent);
    else if (method === "snapshot") this.tableSnapshot(params as { table_id: string; table: TableSnapshot });
    else if (method === "notice") this.gatewayNotice(params as Notice);
  }

  private tableEvent(event: TableEvent): void {
    const subscription = this.subscriptions.get(event.table_id);
    if (!subscription) return;
    observeServerTime(event.at);
    const seq = Number(event.seq);
    // A gap in the sequence would be a fault of the platform: the snapshot is read again.
    if (!event.snapshot_published && subscription.seq !== null && seq !== subscription.seq + 1) {
      if (seq <= subscription.seq) return;
      subscription.seq = null;
      void this.subscribe(event.table_id, subscription);
      return;
    }
    subscription.seq = seq;
    subscription.listener.event(event);
  }

  private tableSnapshot({ table_id, table }: { table_id: string; table: TableSnapshot }): void {
    const subscription = this.subscriptions.get(table_id);
    if (!subscription) return;
    subscription.seq = Number(table.seq);
    observeServerTime(table.at);
    subscription.listener.snapshot(table, null);
  }

  private gatewayNotice(notice: Notice): void {
    if (notice.kind === "token_expires") void this.renewToken();
    else if (notice.kind === "draining") this.retry_ms = notice.reconnect_after_ms ?? FIRST_RETRY_MS;
    else if (notice.kind === "facts_missed") for (const listener of this.resyncListeners) listener();
    else if (notice.kind === "unsubscribed" && notice.table_id) {
      const subscription = this.subscriptions.get(notice.table_id);
      if (subscription) setTimeout(() => this.resubscribe(notice.table_id as string, subscription), FIRST_RETRY_MS);
    }
  }

  private async renewToken(): Promise<void> {
    const token = await this.credentials.token(true);
    if (token && this.state.value === "open") await this.requestOnce("refresh", { token }).catch(() => undefined);
  }
}

/** Commands have an id under which they act once; reads have none. */
function isCommand(params: object): boolean {
  return "request_id" in params;
}

/** A command in a trace of its own, which stays the same however often the command is sent. */
function traced(params: object): object {
  return { ...params, _meta: { traceparent: newTraceparent() } };
}

interface CallError {
  code: number;
  message: string;
  data?: { reason?: string; facts?: Record<string, string>; trace_id?: string; status?: number };
}

interface Notice {
  kind: string;
  table_id?: string;
  reconnect_after_ms?: number;
}

type NotificationParams = TableEvent | PlayerFact | Notice | { table_id: string; table: TableSnapshot };

interface Answer {
  method?: undefined;
  id: number;
  result?: unknown;
  error?: CallError;
}

type Message = { method: string; params: NotificationParams } | Answer;
