// A notice to a player who is betting, shown for as long as it takes to read.
import { signal } from "@preact/signals";
import type { Mode } from "../api/messages";
import { operator } from "../api/platform";
import type { Refusal } from "../api/refusal";
import { type RefusalWords, refusalText } from "../words/refusals";

export interface Notice {
  text: string;
  /** The balance is too low: the cashier is offered. */
  offersCashier: boolean;
}

const LEAST_MS = 3000;
const MOST_MS = 6000;
// To notice it, before reading.
const BEFORE_READING_MS = 1500;
const MS_PER_LETTER = 50;

export class BettingNotice {
  readonly shown = signal<Notice | null>(null);
  private cancelTimer: () => void = () => undefined;

  constructor(private readonly after: (ms: number, then: () => void) => () => void) {}

  show(text: string, offersCashier: boolean): void {
    this.shown.value = { text, offersCashier };
    this.closeLater();
  }

  /** Tells the player that something was refused; `own` are the game's words, where they say more. */
  refused(refusal: Refusal, mode: Mode, own: RefusalWords = {}): void {
    const lacksMoney = refusal.reason === "INSUFFICIENT_FUNDS" && mode === "MODE_REAL";
    this.show(refusalText(refusal, mode, own), lacksMoney && operator.value.cashier_url !== "");
  }

  /** Closes the notice: the player has read it, or goes on betting. */
  close(): void {
    this.cancelTimer();
    this.shown.value = null;
  }

  /** Keeps the notice open while it is pointed at or has the focus. */
  keepOpen(): void {
    this.cancelTimer();
  }

  /** Closes the notice after the time it takes to read. */
  closeLater(): void {
    this.cancelTimer();
    if (!this.shown.value) return;
    const reading_ms = BEFORE_READING_MS + this.shown.value.text.length * MS_PER_LETTER;
    this.cancelTimer = this.after(Math.max(LEAST_MS, Math.min(reading_ms, MOST_MS)), () => {
      this.shown.value = null;
    });
  }
}
