// The cards on the table as time passes: each picture of the round is dealt card by card, one picture after the other, at the
// platform's pace. A card is not on the page before it is dealt.
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { dealingSpans, type Span } from "../../../cards/card_motion";
import type { Hand } from "../messages/messages";
import { type DealingStep, dealingSteps, pictureDuring } from "../round/dealing_steps";
import { NO_CARDS, type Picture } from "../round/picture";

export interface CardClock {
  now(): number;
  after(ms: number, then: () => void): () => void;
}

// The least time for a card where the platform's events came late.
const HURRIED_MS = 60;
// How long a hand that is over is seen before its cards are collected, and how long that takes.
const SEEN_MS = 1500;
export const COLLECTED_MS = 500;
const COLLECTED_AT_ONCE = new Set<Hand["state"]>(["HAND_STATE_BUST", "HAND_STATE_GIVEN_UP", "HAND_STATE_PAID"]);

interface Queued {
  after: Picture;
  lies_ms: number;
  each_ms: number;
  /** The cards that should lie by now, do. */
  joined: boolean;
}

export class ShownCards {
  readonly picture: ReadonlySignal<Picture>;
  /** Every card lies, and the picture is complete. */
  readonly complete: ReadonlySignal<boolean>;
  /** When the cards of a hand are collected, by `handKey`. */
  readonly collected: ReadonlySignal<ReadonlyMap<string, Span>>;

  private readonly shown = signal<Picture>(NO_CARDS);
  private readonly lies = signal(true);
  private readonly leaving = signal<ReadonlyMap<string, Span>>(new Map());
  private readonly spans = new Map<string, Span>();
  private target = NO_CARDS;
  private readonly queue: Queued[] = [];
  private timers: (() => void)[] = [];
  private collecting = false;

  constructor(
    private readonly clock: CardClock,
    private readonly dealt: () => void,
  ) {
    this.picture = this.shown;
    this.complete = this.lies;
    this.collected = this.leaving;
  }

  /** When a card is dealt; undefined if it lay there when the player came. */
  spanOf(hand: { place: number; number: number } | null, at: number): Span | undefined {
    return this.spans.get(cardKey(hand, at));
  }

  /** Deals what a picture has more than the one before, so that the last card lies at the given moment. */
  deal(after: Picture, lies_ms: number, each_ms: number, joined = false): void {
    // A table that is still being collected is empty for the next cards.
    if (this.collecting) this.replace(NO_CARDS);
    this.queue.push({ after, lies_ms, each_ms, joined });
    this.lies.value = false;
    if (this.queue.length === 1) this.dealNext();
  }

  /** Shows a picture at once; its cards have been there for a while. */
  replace(picture: Picture): void {
    this.stop();
    batch(() => {
      this.spans.clear();
      this.target = picture;
      this.shown.value = picture;
      this.leaving.value = new Map(
        picture.hands.filter(isOver).map((hand) => [handKey(hand), { from_ms: 0, until_ms: 0 }]),
      );
      this.lies.value = true;
    });
  }

  /** Collects everything; the table is empty a moment later. */
  collectAll(): void {
    const { hands } = this.shown.value;
    this.stop();
    if (hands.length === 0) {
      this.replace(NO_CARDS);
      return;
    }
    const from_ms = this.clock.now();
    const span = { from_ms, until_ms: from_ms + COLLECTED_MS };
    const all = [...hands.map(handKey), BANK_KEY].map((key) => [key, this.leaving.value.get(key) ?? span] as const);
    this.leaving.value = new Map(all);
    this.collecting = true;
    this.wait(COLLECTED_MS, () => this.replace(NO_CARDS));
  }

  stop(): void {
    for (const cancel of this.timers.splice(0)) cancel();
    this.queue.length = 0;
    this.collecting = false;
  }

  private dealNext(): void {
    const next = this.queue[0];
    if (!next) return;
    const before = this.target;
    const steps = dealingSteps(before, next.after);
    this.target = next.after;
    const now = this.clock.now();
    const spans = this.spansOf(steps, next, now);
    for (const [index, step] of steps.entries()) {
      const span = spans[index];
      if (span && !step.turns) this.spans.set(cardKey(step.hand, step.at), span);
    }
    // The steps whose time has come are taken at once, the others one by one.
    const taken = spans.filter(({ from_ms }) => from_ms <= now).length;
    this.shown.value = pictureDuring(next.after, steps, taken);
    for (const [index, span] of spans.entries()) {
      if (index < taken) continue;
      this.wait(span.from_ms - now, () => {
        this.shown.value = pictureDuring(next.after, steps, index + 1);
        this.dealt();
      });
    }
    const last = spans.at(-1)?.until_ms ?? now;
    const finished = () => {
      this.queue.shift();
      batch(() => {
        this.shown.value = next.after;
        this.collectFinished();
        if (this.queue.length) this.dealNext();
        else this.lies.value = true;
      });
    };
    if (last <= now) finished();
    else this.wait(last - now, finished);
  }

  private spansOf(steps: readonly DealingStep[], { lies_ms, each_ms, joined }: Queued, now: number): readonly Span[] {
    if (joined) return dealingSpans(steps.length, each_ms, lies_ms);
    // The platform's time is that of cards which are dealt; turning one takes as long, on top of it.
    const until_ms = lies_ms + each_ms * steps.filter(({ turns }) => turns).length;
    const each = Math.min(each_ms, Math.max((until_ms - now) / Math.max(steps.length, 1), HURRIED_MS));
    return dealingSpans(steps.length, each, Math.max(until_ms, now + each * steps.length));
  }

  /** The cards of hands that are over go (805/2015:20.a, 25.b), once they have been seen. */
  private collectFinished(): void {
    const known = this.leaving.value;
    const over = this.shown.value.hands.filter((hand) => isOver(hand) && !known.has(handKey(hand)));
    if (over.length === 0) return;
    const from_ms = this.clock.now() + SEEN_MS;
    const span = { from_ms, until_ms: from_ms + COLLECTED_MS };
    this.leaving.value = new Map([...known, ...over.map((hand) => [handKey(hand), span] as const)]);
  }

  private wait(ms: number, then: () => void): void {
    this.timers.push(this.clock.after(ms, then));
  }
}

export const BANK_KEY = "bank";

export function handKey(hand: { place: number; number: number } | null): string {
  return hand ? `${hand.place}.${hand.number}` : BANK_KEY;
}

function cardKey(hand: { place: number; number: number } | null, at: number): string {
  return `${handKey(hand)}:${at}`;
}

function isOver({ state }: Hand): boolean {
  return COLLECTED_AT_ONCE.has(state);
}
