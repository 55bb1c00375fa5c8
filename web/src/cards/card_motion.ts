// When cards move: spans of time on the clock of `performance.now()`, which whoever deals gives.

/** A movement from one moment to another, in milliseconds. */
export interface Span {
  from_ms: number;
  until_ms: number;
}

/** How an animation that may have begun already is started: the delay is negative for one under way. */
export interface Timing {
  delay: number;
  duration: number;
}

/** The timing of a movement seen from now; null of one that is over. */
export function timingOf({ from_ms, until_ms }: Span, now_ms: number): Timing | null {
  if (until_ms <= now_ms) return null;
  return { delay: from_ms - now_ms, duration: until_ms - from_ms };
}

/** The spans in which cards are dealt one after the other, the last of which lies at the given moment. */
export function dealingSpans(count: number, each_ms: number, last_lies_ms: number): readonly Span[] {
  return Array.from({ length: count }, (_, index) => {
    const until_ms = last_lies_ms - (count - 1 - index) * each_ms;
    return { from_ms: until_ms - each_ms, until_ms };
  });
}

/** How far a card is from where it comes from or goes to, middle to middle. */
export function offsetBetween(card: DOMRect, other: DOMRect): { x: number; y: number } {
  return {
    x: other.left + other.width / 2 - (card.left + card.width / 2),
    y: other.top + other.height / 2 - (card.top + card.height / 2),
  };
}

/** The player prefers that nothing moves. */
export function prefersStillness(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
