// What a player has to be told while he bets: for as long as it takes to read, or until it is behind him.
import { signal } from "@preact/signals";

export interface Notice {
  text: string;
  /** What he wanted takes more money than he has. */
  wantsMoney: boolean;
}

const LEAST_MS = 3000;
const MOST_MS = 6000;
// A glance at it, and then its words.
const BEFORE_READING_MS = 1500;
const MS_PER_LETTER = 50;

export class FeltNotice {
  readonly shown = signal<Notice | null>(null);
  private hush: () => void = () => undefined;

  constructor(private readonly later: (ms: number, then: () => void) => () => void) {}

  say(text: string, wantsMoney: boolean): void {
    this.shown.value = { text, wantsMoney };
    this.letGo();
  }

  /** He has read it, or has gone on. */
  close(): void {
    this.hush();
    this.shown.value = null;
  }

  /** He points at it, or his keyboard is in it: it does not go from under his hand. */
  keep(): void {
    this.hush();
  }

  /** It goes by itself, from now on. */
  letGo(): void {
    this.hush();
    if (!this.shown.value) return;
    const reading_ms = BEFORE_READING_MS + this.shown.value.text.length * MS_PER_LETTER;
    this.hush = this.later(Math.max(LEAST_MS, Math.min(reading_ms, MOST_MS)), () => {
      this.shown.value = null;
    });
  }
}
