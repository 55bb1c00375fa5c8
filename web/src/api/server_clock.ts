// The platform's time. The device's clock is used for nothing but the passing of seconds.

const DRIFT_MS_PER_S = 0.5;

class PlatformClock {
  private offset_ms: number | null = null;
  private observed_ms = 0;

  get known(): boolean {
    return this.offset_ms !== null;
  }

  /** Messages arrive late, never early, so the largest offset is the nearest to the truth. It decays slowly, because
   * device clocks drift. */
  observe(at: string | undefined): void {
    if (!at) return;
    const server_ms = Date.parse(at);
    if (Number.isNaN(server_ms)) return;
    const now = performance.now();
    const difference = server_ms - now;
    const decayed =
      this.offset_ms === null
        ? Number.NEGATIVE_INFINITY
        : this.offset_ms - ((now - this.observed_ms) / 1000) * DRIFT_MS_PER_S;
    if (difference > decayed) {
      this.offset_ms = difference;
      this.observed_ms = now;
    }
  }

  now(): number {
    return this.offset_ms === null ? Date.now() : performance.now() + this.offset_ms;
  }
}

const serverClock = new PlatformClock();
// Sessions follow a clock of their own, which a development platform can move ahead.
const sessionClock = new PlatformClock();

/** Learns the platform's time from a message. */
export function observeServerTime(at: string | undefined): void {
  serverClock.observe(at);
}

/** Learns the session clock's time from a session's fact. */
export function observeSessionTime(at: string | undefined): void {
  sessionClock.observe(at);
}

/** The platform's time, in milliseconds since 1970. */
export function serverNow(): number {
  return serverClock.now();
}

/** The session clock's time: how long a player has played, and how long remains to answer a warning. */
export function sessionNow(): number {
  return sessionClock.known ? sessionClock.now() : serverClock.now();
}
