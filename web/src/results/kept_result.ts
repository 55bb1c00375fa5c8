// Keeps the last result readable while the next round takes bets: until the player bets, and for the time that the rules
// demand.
import { type ReadonlySignal, signal } from "@preact/signals";
import type { Cents } from "../words/money";

interface Result {
  round_id: string;
  staked_cents: Cents;
}

export class KeptResult<RoundResult extends Result> {
  private readonly kept = signal<RoundResult | null>(null);
  private round_id = "";
  private readLongEnough = false;
  private playerHasBet = false;
  private cancel: () => void = () => undefined;

  constructor(private readonly after: (ms: number, then: () => void) => () => void) {}

  get result(): ReadonlySignal<RoundResult | null> {
    return this.kept;
  }

  /** Whether this round has been kept before. */
  hasKept(round_id: string): boolean {
    return this.round_id === round_id;
  }

  /** Keeps a result from now on, for so long at least. */
  keep(result: RoundResult, read_ms: number): void {
    if (this.hasKept(result.round_id)) return;
    this.forget();
    this.round_id = result.round_id;
    this.playerHasBet = false;
    this.readLongEnough = false;
    this.kept.value = result;
    this.cancel = this.after(read_ms, () => {
      this.readLongEnough = true;
      // Without bets there is nothing to read but the outcome, which the latest outcomes show too.
      if (this.playerHasBet || result.staked_cents === 0) this.forget();
    });
  }

  /** The player bets in the next round. */
  playerBets(): void {
    this.playerHasBet = true;
    if (this.readLongEnough) this.forget();
  }

  /** Betting has closed: the next result is about to come. */
  forget(): void {
    this.cancel();
    this.kept.value = null;
  }
}
