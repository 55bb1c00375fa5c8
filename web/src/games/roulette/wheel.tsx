// The wheel and its ball, as they are seen from above. What is drawn is in wheel_drawing, what moves in wheel_motion.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { colourClass } from "./outcome_words";
import type { PocketOnWheel } from "./pockets";
import { type MovingParts, play, standStill } from "./wheel_animation";
import { BallBehind, BallOnWheel, Bowl, LightOnRotor, Rotor } from "./wheel_drawing";
import { idling, lyingAt, type Motion, type Spin, spinning } from "./wheel_motion";
import "./wheel.css";

export type { Spin } from "./wheel_motion";

interface Props {
  /** Clockwise from 0, from GetLayout. */
  pockets: readonly PocketOnWheel[];
  spin: Spin | null;
  /** Where the ball lies when nothing turns. */
  lying: string | null;
  /** The number to be read in the middle, where the eyes are when the ball lies; null while there is none to be told. */
  called?: string | null;
  onRest?: (key: string) => void;
}

const FADE_MS = 300;
const HAND_MS = 160;

export function Wheel({ pockets, spin, lying, called = null, onRest }: Props) {
  const whole = useRef<HTMLDivElement>(null);
  const rotor = useRef<HTMLDivElement>(null);
  const ball = useRef<HTMLDivElement>(null);
  const shadow = useRef<HTMLDivElement>(null);
  const trail = useRef<HTMLDivElement>(null);
  // What has been seen so far: the next spin begins from there.
  const shown = useRef<Shown | null>(null);
  const radius_px = useRadius(whole);
  const still = useStillness();

  const number = spin?.number ?? lying;
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
    const at = lyingAt(number, pockets);
    if (still) {
      standStill(idling(0, now, at).at(now), parts, radius_px);
      const fading = spin ? fade(thrownParts, spin.until_ms - FADE_MS, FADE_MS) : [];
      return () => cancel(fading);
    }
    const next = nextMotion(shown.current, spin, number, pockets, now);
    shown.current = next;
    const end = play(next.motion, parts, radius_px, next.spin?.until_ms ?? null);
    // A hand takes the ball out of its pocket, and throws it.
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
      {called !== null && <strong class={`wheel-called figures ${colourClass(called)}`}>{called}</strong>}
    </div>
  );
}

interface Shown {
  motion: Motion;
  /** What it is the motion of; null if nothing was thrown. */
  spin: Spin | null;
}

/** What has to be seen from now on, after what was seen before. */
function nextMotion(
  before: Shown | null,
  spin: Spin | null,
  number: string | null,
  pockets: readonly PocketOnWheel[],
  now: number,
): Shown {
  if (before?.spin && spin && sameSpin(before.spin, spin)) return before;
  if (spin) return { motion: spinning(spin, pockets, before?.motion ?? null), spin };
  // The spin is over, and the ball lies where it fell: it goes on turning with the wheel.
  if (before?.spin && before.spin.number === number && now >= before.spin.until_ms) return before;
  return { motion: idling(before?.motion.at(now).wheel ?? 0, now, lyingAt(number, pockets)), spin: null };
}

function sameSpin(one: Spin, other: Spin): boolean {
  return (
    one.key === other.key &&
    one.number === other.number &&
    one.from_ms === other.from_ms &&
    one.until_ms === other.until_ms
  );
}

/** From nothing to there, at its time. */
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

/** Say once that the ball lies, when it does; at once if it has done so for long. */
function useRest(spin: Spin | null, onRest: ((key: string) => void) | undefined): void {
  const told = useRef("");
  const tell = useRef(onRest);
  tell.current = onRest;
  useEffect(() => {
    if (!spin || told.current === spin.key) return;
    const timer = setTimeout(
      () => {
        told.current = spin.key;
        tell.current?.(spin.key);
      },
      Math.max(0, spin.until_ms - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [spin?.key, spin?.until_ms]);
}

/** Half the width of an element, and 0 before it is known. */
function useRadius(element: { current: HTMLElement | null }): number {
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

/** Whether nothing may move. */
function useStillness(): boolean {
  const [asked] = useState(() => matchMedia("(prefers-reduced-motion: reduce)"));
  const [still, setStill] = useState(asked.matches);
  useEffect(() => {
    const heard = () => setStill(asked.matches);
    asked.addEventListener("change", heard);
    return () => asked.removeEventListener("change", heard);
  }, [asked]);
  return still;
}
