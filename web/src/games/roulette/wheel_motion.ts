// What the wheel does, one spin after another: where it stands at a moment, and what is to be animated from then on.
import { type BallPath, ballPath, IDLE_SPEED, POCKET, pocketAngle } from "./ball_path";
import type { PocketOnWheel } from "./pockets";

export interface Spin {
  /** What the path of the ball is made from: the round, the same for everybody at the table. */
  key: string;
  number: string;
  /** performance.now() when it began and when the ball has to lie still. */
  from_ms: number;
  until_ms: number;
}

/** Wheel and ball at a moment. The ball is absent before the first spin of a table. */
export interface Seen {
  wheel: number;
  ball: { angle: number; radius: number; height: number } | null;
}

/** From `from_ms` on: whatever happens up to `steady_ms`, and from there the same for ever, at the idle speed. */
export interface Motion {
  readonly from_ms: number;
  readonly steady_ms: number;
  /** When something changes its direction at once: moments that no picture may skip. */
  readonly corners_ms: readonly number[];
  at(ms: number): Seen;
}

// After so many lengths of a spin the wheel has come down to its idle speed, as far as one can see.
const SLOWS_DOWN_WITHIN = 3;

/** Nothing but the slow turning, with the ball where it lies. */
export function idling(wheelAngle: number, now_ms: number, ball: number | null): Motion {
  const at = (ms: number): Seen => {
    const wheel = wheelAngle - (IDLE_SPEED * (ms - now_ms)) / 1000;
    return { wheel, ball: ball === null ? null : { angle: wheel + ball, radius: POCKET, height: 0 } };
  };
  return { from_ms: now_ms, steady_ms: now_ms, corners_ms: [], at };
}

/** A spin; `before` is what was seen until then. */
export function spinning(spin: Spin, pockets: readonly PocketOnWheel[], before: Motion | null): Motion {
  const path = pathOf(spin, pockets, before && before.from_ms < spin.from_ms ? before.at(spin.from_ms).wheel : null);
  const at = (ms: number): Seen => {
    const s = (ms - spin.from_ms) / 1000;
    return { wheel: path.wheel(s), ball: path.ball(s) };
  };
  return {
    from_ms: spin.from_ms,
    steady_ms: spin.from_ms + SLOWS_DOWN_WITHIN * path.duration * 1000,
    corners_ms: [path.leavesRim, path.strikes, ...path.landings, path.duration].map((s) => spin.from_ms + s * 1000),
    at,
  };
}

/** The path of a spin, for whoever follows it otherwise, as the sounds do. */
export function pathOf(spin: Spin, pockets: readonly PocketOnWheel[], startAngle: number | null = null): BallPath {
  const pocket = indexOf(spin.number, pockets);
  return ballPath(spin.key, pocket, pockets.length, (spin.until_ms - spin.from_ms) / 1000, startAngle);
}

/** Where the ball lies, seen from the wheel. */
export function lyingAt(number: string | null, pockets: readonly PocketOnWheel[]): number | null {
  return number === null ? null : pocketAngle(indexOf(number, pockets), pockets.length);
}

function indexOf(number: string, pockets: readonly PocketOnWheel[]): number {
  return pockets.findIndex((pocket) => pocket.number === number);
}
