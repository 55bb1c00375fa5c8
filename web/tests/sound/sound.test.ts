// Silent before the first gesture; muting takes effect at once, for playing sounds too, and is remembered.
import { beforeEach, expect, test, vi } from "vitest";

type Sound = typeof import("../../src/sound/sound");

let kept: Map<string, string>;
let gestures: Map<string, () => void>;
let contexts: FakeContext[];

class FakeNode {
  gain = { value: 1, cancelScheduledValues: vi.fn() };
  connect(next: unknown) {
    return next;
  }
}

class FakeContext {
  state = "suspended";
  destination = new FakeNode();
  made: FakeNode[] = [];
  constructor() {
    contexts.push(this);
  }
  createGain() {
    const node = new FakeNode();
    this.made.push(node);
    return node;
  }
  async resume() {
    this.state = "running";
  }
}

beforeEach(() => {
  vi.resetModules();
  kept = new Map();
  gestures = new Map();
  contexts = [];
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
  });
  vi.stubGlobal("addEventListener", (name: string, heard: () => void) => gestures.set(name, heard));
  vi.stubGlobal("AudioContext", FakeContext);
});

const load = (): Promise<Sound> => import("../../src/sound/sound");

test("before the first gesture nothing sounds, and no audio context exists", async () => {
  const sound = await load();
  expect(sound.muted.value).toBe(false);
  expect(sound.activeSpeaker()).toBeNull();
  expect(contexts).toHaveLength(0);
});

test("a gesture creates the audio context, once", async () => {
  const sound = await load();
  gestures.get("pointerdown")?.();
  gestures.get("keydown")?.();
  expect(contexts).toHaveLength(1);
  expect(contexts[0]?.state).toBe("running");
  expect(sound.activeSpeaker()?.context).toBe(contexts[0]);
});

test("muting takes effect at once, for playing sounds too, and is remembered", async () => {
  const sound = await load();
  gestures.get("pointerdown")?.();
  const out = contexts[0]?.made[0];
  sound.muted.value = true;
  expect(out?.gain.value).toBe(0);
  expect(sound.activeSpeaker()).toBeNull();
  vi.resetModules();
  const again = await load();
  expect(again.muted.value).toBe(true);
  gestures.get("keydown")?.();
  expect(contexts[1]?.made[0]?.gain.value).toBe(0);
  again.muted.value = false;
  expect(contexts[1]?.made[0]?.gain.value).toBeGreaterThan(0);
  expect(again.activeSpeaker()).not.toBeNull();
});
