// The sound of the ball.
import { activeSpeaker } from "../../../sound/sound";
import { knock, noise } from "../../../sound/synthesis";
import type { Pocket } from "../layout/messages";
import type { BallPath } from "./ball_path";
import { ballPathOf, type Spin } from "./wheel_motion";

const STEP_S = 1 / 50;
const LOUDEST_ROLL = 0.3;
const FULL_SPEED = 12;

/** The ball rolls on the rim, strikes and hops, as on the wheel. The returned function silences it. */
export function ballSound(spin: Spin, pockets: readonly Pocket[]): () => void {
  const speaker = activeSpeaker();
  if (!speaker) return () => undefined;
  const { context, out } = speaker;
  const path = ballPathOf(spin, pockets);
  const begun = (performance.now() - spin.from_ms) / 1000;
  const zero = context.currentTime - begun;
  const sounding: AudioScheduledSourceNode[] = [];

  const from = Math.max(begun, 0) + 0.02;
  const curve = loudnessOfRolling(path, from);
  if (curve.loudness.length > 1) {
    const rolling = noise(context);
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
    if (s > begun) sounding.push(...knock(speaker, { at: zero + s, volume, pitch, rings }));
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

/** Loudness and pitch, step by step: they follow the speed, and a little the side on which the ball rolls. */
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
