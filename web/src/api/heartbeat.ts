// Detects a dead connection by pings: a network can disappear without closing the socket.

/** How long a call may stay unanswered, with nothing else received, before a ping is sent. */
export const PING_WHILE_WAITING_MS = 1500;
/** How long an idle connection may stay silent before a ping is sent. */
export const PING_WHILE_IDLE_MS = 10_000;
/** How long a ping may stay unanswered before the connection counts as lost. */
export const ANSWER_WITHIN_MS = 2500;

export class Heartbeat {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waiting = false;
  private pinged = false;

  constructor(
    /** Sends something that the platform answers at once. */
    private readonly ask: () => void,
    /** Called when the platform does not answer. */
    private readonly gone: () => void,
  ) {}

  /** A call was sent, and its answer is due. */
  requestSent(): void {
    if (this.waiting || this.pinged) return;
    this.waiting = true;
    this.checkAfter(PING_WHILE_WAITING_MS);
  }

  /** A message arrived; `waiting` tells whether calls are still unanswered. */
  received(due: boolean): void {
    this.pinged = false;
    this.waiting = due;
    this.checkAfter(due ? PING_WHILE_WAITING_MS : PING_WHILE_IDLE_MS);
  }

  /** Sends a ping now, because something expected has not arrived. */
  check(): void {
    if (this.pinged) return;
    this.pinged = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.gone, ANSWER_WITHIN_MS);
    this.ask();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.waiting = false;
    this.pinged = false;
  }

  private checkAfter(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), ms);
  }
}
