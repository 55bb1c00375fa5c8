// Plays a motion as animations of transforms, which the browser runs apart from the page: a busy page does not stop the
// ball, a hidden one costs nothing, and a player who arrives late sees it where it has to be by then.
import { IDLE_SPEED } from "./ball_path";
import type { Motion, WheelState } from "./wheel_motion";

export interface MovingParts {
  rotor: HTMLElement;
  ball: HTMLElement;
  shadow: HTMLElement;
  /** Paler balls, each a little behind: the smear of a fast ball. At rest they lie beneath it. */
  trail: readonly HTMLElement[];
}

const STEP_MS = 1000 / 60;
const BEHIND_MS = 4;
const CALM_STEP_MS = 1000 / 12;
const IDLE_TURN_MS = ((2 * Math.PI) / IDLE_SPEED) * 1000;
// How height changes the ball's size, and moves its shadow (the light comes from the upper left).
const NEARER = 1.5;
const SHADOW_ASIDE = { x: 0.55, y: 0.8 };

/** Plays a motion; the returned function ends it. `radius_px` is half the wheel's width. */
export function play(motion: Motion, parts: MovingParts, radius_px: number, ballRests_ms: number | null): () => void {
  const moments = momentsOf(motion, ballRests_ms);
  const seen = moments.map((ms) => motion.at(ms));
  const offsets = moments.map((ms) => span(ms, motion));
  const running = new Set<Animation>();
  const animate = (part: HTMLElement, transformOf: (seen: WheelState, turned: number) => string, behind_ms = 0) => {
    // Two animations of one transform at once would run on the page's thread: the second starts when the first is over.
    const idle = () => {
      const steady = motion.at(motion.steady_ms);
      const turns = [0, 2 * Math.PI].map((turned) => ({ transform: transformOf(steady, turned) }));
      const forever = { duration: IDLE_TURN_MS, iterations: Number.POSITIVE_INFINITY, fill: "backwards" } as const;
      return start(part, turns, forever, motion.steady_ms + behind_ms);
    };
    if (performance.now() >= motion.steady_ms) {
      running.add(idle());
      return;
    }
    const frames = seen.map((each, no) => ({ transform: transformOf(each, 0), offset: offsets[no] ?? 0 }));
    const lasts = motion.steady_ms - motion.from_ms;
    const busy = start(part, frames, { duration: lasts, fill: "both" }, motion.from_ms + behind_ms);
    running.add(busy);
    busy.onfinish = () => {
      running.add(idle());
      busy.cancel();
    };
  };
  animate(parts.rotor, rotorTransform);
  if (seen[0]?.ball || motion.at(motion.steady_ms).ball) {
    const transformOf = (each: WheelState, turned: number) => ballTransform(each, turned, radius_px);
    animate(parts.ball, transformOf);
    parts.trail.forEach((part, no) => {
      animate(part, transformOf, (no + 1) * BEHIND_MS);
    });
    animate(parts.shadow, (each, turned) => shadowTransform(each, turned, radius_px));
  }
  return () => {
    for (const each of running) each.cancel();
  };
}

function start(part: HTMLElement, frames: Keyframe[], timing: KeyframeAnimationOptions, from_ms: number): Animation {
  const animation = part.animate(frames, timing);
  animation.startTime = from_ms;
  return animation;
}

/** Shows one state without motion. */
export function standStill(seen: WheelState, parts: MovingParts, radius_px: number): void {
  parts.rotor.style.transform = rotorTransform(seen, 0);
  if (!seen.ball) return;
  for (const part of [parts.ball, ...parts.trail]) part.style.transform = ballTransform(seen, 0, radius_px);
  parts.shadow.style.transform = shadowTransform(seen, 0, radius_px);
}

function momentsOf(motion: Motion, ballRests_ms: number | null): number[] {
  const moments = new Set([motion.from_ms, motion.steady_ms, ...motion.corners_ms]);
  const rests = ballRests_ms ?? motion.from_ms;
  for (let ms = motion.from_ms; ms < rests; ms += STEP_MS) moments.add(ms);
  for (let ms = rests; ms < motion.steady_ms; ms += CALM_STEP_MS) moments.add(ms);
  return [...moments].filter((ms) => ms >= motion.from_ms && ms <= motion.steady_ms).sort((a, b) => a - b);
}

function span(ms: number, motion: Motion): number {
  const whole = motion.steady_ms - motion.from_ms;
  return whole > 0 ? (ms - motion.from_ms) / whole : 0;
}

function rotorTransform({ wheel }: WheelState, turned: number): string {
  return `rotate(${(wheel - turned).toFixed(5)}rad)`;
}

function ballTransform({ ball }: WheelState, turned: number, radius_px: number): string {
  if (!ball) return "none";
  return `${around(ball.angle - turned, ball.radius * radius_px)} scale(${(1 + NEARER * ball.height).toFixed(4)})`;
}

function shadowTransform({ ball }: WheelState, turned: number, radius_px: number): string {
  if (!ball) return "none";
  const away = ball.height * radius_px;
  const aside = `translate(${(away * SHADOW_ASIDE.x).toFixed(2)}px, ${(away * SHADOW_ASIDE.y).toFixed(2)}px)`;
  return `${aside} ${around(ball.angle - turned, ball.radius * radius_px)}`;
}

/** Moves to a position without turning: the light stays that of the room. */
function around(angle: number, radius_px: number): string {
  return `rotate(${angle.toFixed(5)}rad) translateY(${(-radius_px).toFixed(2)}px) rotate(${(-angle).toFixed(5)}rad)`;
}
