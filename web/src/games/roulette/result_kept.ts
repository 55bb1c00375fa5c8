// What the last round came to, kept to be read while the next one takes bets: until the player bets in that, and for as
// long as the rules of the table say.
import { type ReadonlySignal, signal } from "@preact/signals";
import type { Told } from "./felt_story";

export class ResultKept {
  private readonly kept = signal<Told | null>(null);
  private round_id = "";
  private readLong = false;
  private playerGoesOn = false;
  private cancel: () => void = () => undefined;

  constructor(private readonly later: (ms: number, then: () => void) => () => void) {}

  get told(): ReadonlySignal<Told | null> {
    return this.kept;
  }

  /** Whether this round was kept, if only once. */
  knows(round_id: string): boolean {
    return this.round_id === round_id;
  }

  /** From now on, for so long at the least. */
  keep(told: Told, read_ms: number): void {
    if (this.knows(told.round_id)) return;
    this.forget();
    this.round_id = told.round_id;
    this.playerGoesOn = false;
    this.readLong = false;
    this.kept.value = told;
    this.cancel = this.later(read_ms, () => {
      this.readLong = true;
      // Whoever had no bets has nothing more to read than the number, which the display of the last numbers holds.
      if (this.playerGoesOn || told.staked_cents === 0) this.forget();
    });
  }

  /** The player bets in the next round. */
  goesOn(): void {
    this.playerGoesOn = true;
    if (this.readLong) this.forget();
  }

  /** Bets are closed: another result is about to come. */
  forget(): void {
    this.cancel();
    this.kept.value = null;
  }
}
