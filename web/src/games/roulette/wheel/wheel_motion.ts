// The wheel's motion, one spin after another: its state at a moment, and what has to be animated from then on.

import type { Pocket } from "../layout/messages";
import { type BallPath, ballPath, IDLE_SPEED, POCKET, pocketAngle } from "./ball_path";

export interface Spin {
  /** The seed of the ball's path: the round, so that it is the same for everybody at the table. */
  key: string;
  number: string;
  /** performance.now() at the throw and when the ball comes to rest. */
  from_ms: number;
  until_ms: number;
}

/** Wheel and ball at a moment. There is no ball before the first spin of a table. */
export interface WheelState {
  wheel: number;
  ball: { angle: number; radius: number; height: number } | null;
}

/** A motion from `from_ms` on; after `steady_ms` it goes on at the idle speed for ever. */
export interface Motion {
  readonly from_ms: number;
  readonly steady_ms: number;
  /** Sudden changes of direction: moments that the animation must not skip. */
  readonly corners_ms: readonly number[];
  at(ms: number): WheelState;
}

// After so many times a spin's length the wheel has visibly slowed down to its idle speed.
const SLOWS_DOWN_WITHIN = 3;

/** The slow turning between spins, with the ball at rest. */
export function idleMotion(wheelAngle: number, now_ms: number, ball: number | null): Motion {
  const at = (ms: number): WheelState => {
    const wheel = wheelAngle - (IDLE_SPEED * (ms - now_ms)) / 1000;
    return { wheel, ball: ball === null ? null : { angle: wheel + ball, radius: POCKET, height: 0 } };
  };
  return { from_ms: now_ms, steady_ms: now_ms, corners_ms: [], at };
}

/** A spin, continuing the motion before it. */
export function spinMotion(spin: Spin, pockets: readonly Pocket[], before: Motion | null): Motion {
  const path = ballPathOf(
    spin,
    pockets,
    before && before.from_ms < spin.from_ms ? before.at(spin.from_ms).wheel : null,
  );
  const at = (ms: number): WheelState => {
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

/** The ball's path in a spin, for the sounds too. */
export function ballPathOf(spin: Spin, pockets: readonly Pocket[], startAngle: number | null = null): BallPath {
  const pocket = indexOf(spin.number, pockets);
  return ballPath(spin.key, pocket, pockets.length, (spin.until_ms - spin.from_ms) / 1000, startAngle);
}

/** The angle of the resting ball, relative to the wheel. */
export function restingAngle(number: string | null, pockets: readonly Pocket[]): number | null {
  return number === null ? null : pocketAngle(indexOf(number, pockets), pockets.length);
}

function indexOf(number: string, pockets: readonly Pocket[]): number {
  return pockets.findIndex((pocket) => pocket.number === number);
}
