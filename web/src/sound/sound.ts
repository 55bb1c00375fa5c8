// What is heard is made by the browser itself. Nothing sounds before the player has touched the page (browsers would not
// let it), and nothing when it is muted, from that moment on.
import { effect, signal } from "@preact/signals";
import { recall, remember } from "../memory";

export const muted = signal(recall("muted") === "yes");

const VOLUME = 1.8;

/** Where sounds go to. */
export interface Speaker {
  context: AudioContext;
  out: AudioNode;
}

let speaker: (Speaker & { out: GainNode }) | null = null;

/** Where to sound now; null if nothing may be heard. */
export function audible(): Speaker | null {
  return muted.value ? null : speaker;
}

/** From now on it may be heard, if the player likes: he has touched the page. */
function awake(): void {
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
  remember("muted", muted.value ? "yes" : "no");
  if (!speaker) return;
  // At once, whatever is sounding.
  speaker.out.gain.cancelScheduledValues(0);
  speaker.out.gain.value = muted.value ? 0 : VOLUME;
});

if (typeof addEventListener === "function") {
  for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, awake, { capture: true, passive: true });
}
