// The platform's time. The clock of the player's device is used for nothing but the passing of seconds.

// A message is always late, never early: the largest difference seen is the nearest to the truth. It is forgotten slowly,
// for clocks of devices are set.
let ahead_ms: number | null = null;
let heard_ms = 0;
const FORGOTTEN_MS_PER_S = 0.5;

/** Something from the platform said when it was. */
export function heardAt(at: string | undefined): void {
  if (!at) return;
  const said = Date.parse(at);
  if (Number.isNaN(said)) return;
  const now = performance.now();
  const difference = said - now;
  const kept = ahead_ms === null ? Number.NEGATIVE_INFINITY : ahead_ms - ((now - heard_ms) / 1000) * FORGOTTEN_MS_PER_S;
  if (difference > kept) {
    ahead_ms = difference;
    heard_ms = now;
  }
}

/** What the platform's clock shows, in milliseconds since 1970. */
export function serverNow(): number {
  return ahead_ms === null ? Date.now() : performance.now() + ahead_ms;
}
