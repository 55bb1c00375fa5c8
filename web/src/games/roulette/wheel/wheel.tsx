// The wheel and its ball from above. `wheel_drawing` draws it, `wheel_motion` moves it.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Pocket } from "../layout/messages";
import { colourClass } from "../words/outcomes";
import { type MovingParts, play, standStill } from "./wheel_animation";
import { BallBehind, BallOnWheel, Bowl, LightOnRotor, Rotor } from "./wheel_drawing";
import { idleMotion, type Motion, restingAngle, type Spin, spinMotion } from "./wheel_motion";
import "./wheel.css";

interface Props {
  /** Clockwise from 0, from GetLayout. */
  pockets: readonly Pocket[];
  spin: Spin | null;
  /** The number on which the ball rests. */
  restingNumber: string | null;
  /** The number in the middle of the wheel, once the ball rests; null while there is none to show. */
  calledNumber?: string | null;
  onRest?: (key: string) => void;
}

const FADE_MS = 300;
const HAND_MS = 160;

export function Wheel({ pockets, spin, restingNumber, calledNumber = null, onRest }: Props) {
  const whole = useRef<HTMLDivElement>(null);
  const rotor = useRef<HTMLDivElement>(null);
  const ball = useRef<HTMLDivElement>(null);
  const shadow = useRef<HTMLDivElement>(null);
  const trail = useRef<HTMLDivElement>(null);
  // The motion shown so far: the next spin starts from there.
  const shown = useRef<Shown | null>(null);
  const radius_px = useHalfWidth(whole);
  const still = useReducedMotion();

  const number = spin?.number ?? restingNumber;
  useLayoutEffect(() => {
    if (!rotor.current || !ball.current || !shadow.current || !trail.current || !radius_px || !pockets.length) return;
    const parts: MovingParts = {
      rotor: rotor.current,
      ball: ball.current,
      shadow: shadow.current,
      trail: [...trail.current.children] as HTMLElement[],
    };
    const thrownParts = [parts.ball, parts.shadow, ...parts.trail];
    const now = performance.now();
    const at = restingAngle(number, pockets);
    if (still) {
      standStill(idleMotion(0, now, at).at(now), parts, radius_px);
      const fading = spin ? fade(thrownParts, spin.until_ms - FADE_MS, FADE_MS) : [];
      return () => cancel(fading);
    }
    const next = nextMotion(shown.current, spin, number, pockets, now);
    shown.current = next;
    const end = play(next.motion, parts, radius_px, next.spin?.until_ms ?? null);
    // The ball fades out of its pocket, and into the throw.
    const thrown = next.spin ? fade(thrownParts, next.spin.from_ms, HAND_MS) : [];
    return () => {
      end();
      cancel(thrown);
    };
  }, [spin?.key, spin?.from_ms, spin?.until_ms, number, pockets, radius_px, still]);

  useRest(spin, onRest);

  return (
    <div class="wheel" ref={whole} data-testid="wheel" data-number={number ?? undefined} aria-hidden="true">
      <Bowl />
      <div class="wheel-layer wheel-rotor" ref={rotor}>
        <Rotor pockets={pockets} />
      </div>
      <LightOnRotor />
      <div class={number === null ? "wheel-absent" : undefined}>
        <div class="wheel-ball" ref={shadow}>
          <div class="wheel-ball-shadow" />
        </div>
        <div ref={trail}>
          <BallBehind />
          <BallBehind />
          <BallBehind />
        </div>
        <div class="wheel-ball" ref={ball} data-testid="ball">
          <BallOnWheel />
        </div>
      </div>
      {calledNumber !== null && (
        <strong class={`wheel-called figures ${colourClass(calledNumber)}`}>{calledNumber}</strong>
      )}
    </div>
  );
}

interface Shown {
  motion: Motion;
  /** The spin that it shows; null if the ball was not thrown. */
  spin: Spin | null;
}

/** The motion from now on, continuing the one before. */
function nextMotion(
  before: Shown | null,
  spin: Spin | null,
  number: string | null,
  pockets: readonly Pocket[],
  now: number,
): Shown {
  if (before?.spin && spin && equalSpins(before.spin, spin)) return before;
  if (spin) return { motion: spinMotion(spin, pockets, before?.motion ?? null), spin };
  // The spin is over, and the ball goes on turning with the wheel where it rests.
  if (before?.spin && before.spin.number === number && now >= before.spin.until_ms) return before;
  return { motion: idleMotion(before?.motion.at(now).wheel ?? 0, now, restingAngle(number, pockets)), spin: null };
}

function equalSpins(one: Spin, other: Spin): boolean {
  return (
    one.key === other.key &&
    one.number === other.number &&
    one.from_ms === other.from_ms &&
    one.until_ms === other.until_ms
  );
}

/** Fades parts in at a given time. */
function fade(parts: readonly HTMLElement[], from_ms: number, lasts_ms: number): Animation[] {
  return parts.map((part) => {
    const fading = part.animate([{ opacity: 0 }, { opacity: 1 }], { duration: lasts_ms, fill: "backwards" });
    fading.startTime = from_ms;
    return fading;
  });
}

function cancel(animations: readonly Animation[]): void {
  for (const each of animations) each.cancel();
}

/** Calls `onRest` once for each spin when the ball rests; at once if it rests already. */
function useRest(spin: Spin | null, onRest: ((key: string) => void) | undefined): void {
  const lastCalled = useRef("");
  const callback = useRef(onRest);
  callback.current = onRest;
  useEffect(() => {
    if (!spin || lastCalled.current === spin.key) return;
    const timer = setTimeout(
      () => {
        lastCalled.current = spin.key;
        callback.current?.(spin.key);
      },
      Math.max(0, spin.until_ms - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [spin?.key, spin?.until_ms]);
}

/** Half the width of an element; 0 before it is known. */
function useHalfWidth(element: { current: HTMLElement | null }): number {
  const [radius, setRadius] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return;
    const watched = element.current;
    const measure = () => setRadius(watched.clientWidth / 2);
    const watcher = new ResizeObserver(measure);
    watcher.observe(watched);
    measure();
    return () => watcher.disconnect();
  }, []);
  return radius;
}

/** Whether the player prefers reduced motion. */
function useReducedMotion(): boolean {
  const [query] = useState(() => matchMedia("(prefers-reduced-motion: reduce)"));
  const [still, setStill] = useState(query.matches);
  useEffect(() => {
    const update = () => setStill(query.matches);
    query.addEventListener("change", update);
    return () => query.removeEventListener("change", update);
  }, [query]);
  return still;
}
