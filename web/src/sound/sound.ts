// The page's sound output: synthesised by the browser. Silent before the player's first gesture, which browsers demand, and
// while muted.
import { effect, signal } from "@preact/signals";
import { readStored, writeStored } from "../browser/storage";

export const muted = signal(readStored("muted") === "yes");

const VOLUME = 1.8;

/** Where sounds are played. */
export interface Speaker {
  context: AudioContext;
  out: AudioNode;
}

let speaker: (Speaker & { out: GainNode }) | null = null;

/** The output to play on now; null if nothing may be heard. */
export function activeSpeaker(): Speaker | null {
  return muted.value ? null : speaker;
}

/** Plays a sound that begins now, unless nothing may be heard. */
export function playSound(play: (speaker: Speaker, at: number) => void): void {
  const active = activeSpeaker();
  if (active) play(active, active.context.currentTime);
}

/** Starts the output, after the player's first gesture. */
function wake(): void {
  if (typeof AudioContext === "undefined") return;
  if (!speaker) {
    const context = new AudioContext({ latencyHint: "interactive" });
    const out = context.createGain();
    out.gain.value = muted.value ? 0 : VOLUME;
    out.connect(context.destination);
    speaker = { context, out };
  }
  if (speaker.context.state === "suspended") void speaker.context.resume();
}

effect(() => {
  writeStored("muted", muted.value ? "yes" : "no");
  if (!speaker) return;
  // Takes effect at once, for sounds that are playing too.
  speaker.out.gain.cancelScheduledValues(0);
  speaker.out.gain.value = muted.value ? 0 : VOLUME;
});

if (typeof addEventListener === "function") {
  for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, wake, { capture: true, passive: true });
}
