// Keeps the last result readable while the next round takes bets: until the player bets, and for the time that reading takes.
import { type ReadonlySignal, signal } from "@preact/signals";
import type { RoundResult } from "./results";

// Never less than the table shows its results.
const READ_MS = 6000;

export class KeptResult {
  private readonly kept = signal<RoundResult | null>(null);
  private readLongEnough = false;
  private playerHasBet = false;
  private cancel: () => void = () => undefined;

  constructor(private readonly after: (ms: number, then: () => void) => () => void) {}

  get result(): ReadonlySignal<RoundResult | null> {
    return this.kept;
  }

  keep(result: RoundResult, shown_ms: number): void {
    this.forget();
    // Without own bets there is nothing to read but the bank's result, which the latest results show too.
    if (result.staked_cents === 0) return;
    this.playerHasBet = false;
    this.readLongEnough = false;
    this.kept.value = result;
    this.cancel = this.after(Math.max(READ_MS, shown_ms), () => {
      this.readLongEnough = true;
      if (this.playerHasBet) this.forget();
    });
  }

  playerBets(): void {
    this.playerHasBet = true;
    if (this.readLongEnough) this.forget();
  }

  /** Betting has closed: the next cards are about to come. */
  forget(): void {
    this.cancel();
    this.kept.value = null;
  }
}
