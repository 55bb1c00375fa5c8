// What is heard at a roulette table. Each does nothing where nothing may sound.
import { audible } from "../../sound/sound";
import { hiss, stroke, tone } from "../../sound/strokes";
import type { BallPath } from "./ball_path";
import type { PocketOnWheel } from "./pockets";
import { pathOf, type Spin } from "./wheel_motion";

const STEP_S = 1 / 50;
const LOUDEST_ROLL = 0.3;
const FULL_SPEED = 12;

/** The ball rolls on the rim, slower and slower, strikes and hops, as it does on the wheel. The answer silences it. */
export function ballRolls(spin: Spin, pockets: readonly PocketOnWheel[]): () => void {
  const speaker = audible();
  if (!speaker) return () => undefined;
  const { context, out } = speaker;
  const path = pathOf(spin, pockets);
  const begun = (performance.now() - spin.from_ms) / 1000;
  const zero = context.currentTime - begun;
  const sounding: AudioScheduledSourceNode[] = [];

  const from = Math.max(begun, 0) + 0.02;
  const curve = loudnessOfRolling(path, from);
  if (curve.loudness.length > 1) {
    const rolling = hiss(context);
    const wood = context.createBiquadFilter();
    wood.type = "bandpass";
    wood.Q.value = 1.1;
    const loudness = context.createGain();
    loudness.gain.value = 0;
    const lasts = (curve.loudness.length - 1) * STEP_S;
    loudness.gain.setValueCurveAtTime(curve.loudness, zero + from, lasts);
    wood.frequency.setValueCurveAtTime(curve.pitch, zero + from, lasts);
    rolling.connect(wood).connect(loudness).connect(out);
    rolling.start(zero + from);
    rolling.stop(zero + from + lasts);
    sounding.push(rolling);
  }
  const strike = (s: number, volume: number, pitch: number, rings: number) => {
    if (s > begun) sounding.push(...stroke(speaker, { at: zero + s, volume, pitch, rings }));
  };
  strike(path.strikes, 0.4, 3400, 0.09);
  path.landings.forEach((s, no) => {
    strike(s, 0.42 * 0.68 ** no, 1900 + 160 * no, 0.06);
  });
  const settles = path.landings.at(-1) ?? path.duration;
  for (const part of [0.25, 0.5, 0.7]) {
    strike(settles + part * (path.duration - settles), 0.1 * (1 - part), 2300, 0.035);
  }
  return () => {
    for (const each of sounding) each.stop();
  };
}

/** How loud and how high, step by step: with the speed, and a little with the side it rolls on. */
function loudnessOfRolling(path: BallPath, from: number): { loudness: Float32Array; pitch: Float32Array } {
  const steps = Math.max(0, Math.floor((path.strikes - from) / STEP_S));
  const loudness = new Float32Array(steps);
  const pitch = new Float32Array(steps);
  for (let no = 0; no < steps; no += 1) {
    const s = from + no * STEP_S;
    const angle = path.ball(s).angle;
    const speed = Math.min(1, (angle - path.ball(Math.max(0, s - STEP_S)).angle) / STEP_S / FULL_SPEED);
    loudness[no] = LOUDEST_ROLL * (0.25 + 0.75 * speed) * (0.8 + 0.2 * Math.cos(angle)) * Math.min(1, no / 6);
    pitch[no] = 260 + 900 * speed;
  }
  return { loudness, pitch };
}

export function chipDown(): void {
  const speaker = audible();
  if (!speaker) return;
  const at = speaker.context.currentTime;
  stroke(speaker, { at, volume: 0.4, pitch: 3100, rings: 0.04 });
  stroke(speaker, { at: at + 0.028, volume: 0.16, pitch: 3700, rings: 0.03 });
}

/** The losing chips are raked in. */
export function chipsCollected(): void {
  const speaker = audible();
  if (!speaker) return;
  let at = speaker.context.currentTime;
  for (let left = 9; left > 0; left -= 1) {
    stroke(speaker, { at, volume: 0.1 + 0.16 * Math.random(), pitch: 2600 + 1500 * Math.random(), rings: 0.035 });
    at += 0.03 + 0.05 * Math.random();
  }
}

/** More came back than was staked. Short and modest; it is never heard for less. */
export function prize(): void {
  const speaker = audible();
  if (!speaker) return;
  const at = speaker.context.currentTime;
  tone(speaker, 659.3, at, 0.5, 0.1);
  tone(speaker, 880, at + 0.11, 0.7, 0.1);
}

/** «Jogo feito, nada mais». */
export function noMoreBets(): void {
  const speaker = audible();
  if (!speaker) return;
  const at = speaker.context.currentTime;
  stroke(speaker, { at, volume: 0.5, pitch: 880, rings: 0.12 });
  stroke(speaker, { at: at + 0.16, volume: 0.5, pitch: 700, rings: 0.16 });
}

/** One of the last seconds. */
export function timeRunsOut(): void {
  const speaker = audible();
  if (!speaker) return;
  stroke(speaker, { at: speaker.context.currentTime, volume: 0.25, pitch: 1500, rings: 0.05 });
}
