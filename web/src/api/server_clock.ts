// The platform's time. The clock of the player's device is used for nothing but the passing of seconds.

const FORGOTTEN_MS_PER_S = 0.5;

class PlatformClock {
  private ahead_ms: number | null = null;
  private heard_ms = 0;

  get known(): boolean {
    return this.ahead_ms !== null;
  }

  /** A message is always late, never early: the largest difference seen is the nearest to the truth. It is forgotten
   * slowly, for clocks of devices are set. */
  heard(at: string | undefined): void {
    if (!at) return;
    const said = Date.parse(at);
    if (Number.isNaN(said)) return;
    const now = performance.now();
    const difference = said - now;
    const kept =
      this.ahead_ms === null
        ? Number.NEGATIVE_INFINITY
        : this.ahead_ms - ((now - this.heard_ms) / 1000) * FORGOTTEN_MS_PER_S;
    if (difference > kept) {
      this.ahead_ms = difference;
      this.heard_ms = now;
    }
  }

  now(): number {
    return this.ahead_ms === null ? Date.now() : performance.now() + this.ahead_ms;
  }
}

const machines = new PlatformClock();
// Sessions live by a clock that development can move ahead; elsewhere it shows the same.
const sessions = new PlatformClock();

/** Something from the platform said when it was. */
export function heardAt(at: string | undefined): void {
  machines.heard(at);
}

/** News of a session said when it was. */
export function sessionHeardAt(at: string | undefined): void {
  sessions.heard(at);
}

/** What the platform's clock shows, in milliseconds since 1970. */
export function serverNow(): number {
  return machines.now();
}

/** What the clock of sessions shows: for how long somebody has played, and how long he may still wait. */
export function sessionNow(): number {
  return sessions.known ? sessions.now() : machines.now();
}
