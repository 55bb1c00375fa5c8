// The basic sounds that games combine: knocks, chimes, noise.
import type { Speaker } from "./sound";

interface Knock {
  /** In the context's time. */
  at: number;
  volume: number;
  /** The material: clay is dull, metal is high and rings. */
  pitch: number;
  rings: number;
}

// A sound that starts this very moment would lose its attack.
const LEAD_S = 0.012;

let cachedNoise: { context: BaseAudioContext; buffer: AudioBuffer } | null = null;

/** A looping second of noise, to be filtered. */
export function noise(context: BaseAudioContext): AudioBufferSourceNode {
  if (cachedNoise?.context !== context) {
    const buffer = context.createBuffer(1, context.sampleRate, context.sampleRate);
    const samples = buffer.getChannelData(0);
    for (let at = 0; at < samples.length; at += 1) samples[at] = Math.random() * 2 - 1;
    cachedNoise = { context, buffer };
  }
  const source = context.createBufferSource();
  source.buffer = cachedNoise.buffer;
  source.loop = true;
  return source;
}

/** One thing strikes another. */
export function knock({ context, out }: Speaker, { at, volume, pitch, rings }: Knock): AudioScheduledSourceNode[] {
  const begins = Math.max(at, context.currentTime + LEAD_S);
  const loudness = context.createGain();
  loudness.gain.setValueAtTime(volume, begins);
  loudness.gain.exponentialRampToValueAtTime(0.0001, begins + rings);
  const body = context.createBiquadFilter();
  body.type = "bandpass";
  body.frequency.value = pitch;
  body.Q.value = 3;
  const contact = noise(context);
  contact.connect(body).connect(loudness).connect(out);
  contact.start(begins, Math.random() * 0.5);
  contact.stop(begins + rings);
  const ring = context.createOscillator();
  ring.frequency.value = pitch * 0.62;
  const ringing = context.createGain();
  ringing.gain.setValueAtTime(volume * 0.35, begins);
  ringing.gain.exponentialRampToValueAtTime(0.0001, begins + rings * 0.8);
  ring.connect(ringing).connect(out);
  ring.start(begins);
  ring.stop(begins + rings);
  return [contact, ring];
}

/** A soft tone, like a small bell's. */
export function chime({ context, out }: Speaker, pitch: number, at: number, lasts: number, volume: number): void {
  for (const [overtone, share] of [
    [1, 1],
    [2.76, 0.18],
  ] as const) {
    const voice = context.createOscillator();
    voice.frequency.value = pitch * overtone;
    const loudness = context.createGain();
    loudness.gain.setValueAtTime(0.0001, at);
    loudness.gain.exponentialRampToValueAtTime(volume * share, at + 0.012);
    loudness.gain.exponentialRampToValueAtTime(0.0001, at + lasts / overtone);
    voice.connect(loudness).connect(out);
    voice.start(at);
    voice.stop(at + lasts);
  }
}
