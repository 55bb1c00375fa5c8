// What the table shows of a round, and when: the ball rolls, lies, the number is marked, chips are collected, then paid.
//
// Nothing here decides anything: it begins with the platform's word of the outcome, and is over before bets are taken again.
import { computed, signal } from "@preact/signals";
import type { Any, PastOutcome, TableEvent, TableSnapshot, Words } from "../../api/messages";
import { type Cents, cents } from "../../words/money";
import type { Laid, Layout } from "./bets";
import { numberOf } from "./outcome_words";
import type { Spin } from "./wheel";

/** `quiet`: nothing is being told. The number is marked from `marked` on. */
export type Stage = "quiet" | "rolling" | "marked" | "collected" | "paid";

export interface Told {
  outcome: Any;
  number: string;
  /** His own chips as they lay. */
  bets: Laid;
  /** The platform has told what it came to; until then nothing is collected or paid. */
  settled: boolean;
  staked_cents: Cents;
  payout_cents: Cents;
}

export interface Clock {
  now(): number;
  later(ms: number, then: () => void): () => void;
  /** The player wants nothing to move. */
  still(): boolean;
}

// A player alone, whose table shows no result by itself: nobody waits for him, and the next round waits for his word.
const ALONE_MS = 5200;
const STILL_MS = 700;
const LONGEST_MS = 9000;
const RESULT_MS = 2000;
const MARKED_MS = 550;
const COLLECTED_MS = 600;

/** How long the ball takes, of the time between the outcome and the next round. */
export function rolling_ms(shown_ms: number, individual: boolean, still: boolean): number {
  const most =
    individual && shown_ms === 0 ? ALONE_MS : Math.max(0.5 * shown_ms, Math.min(0.6 * shown_ms, shown_ms - RESULT_MS));
  return Math.min(most, still ? STILL_MS : LONGEST_MS);
}

export class FeltStory {
  readonly stage = signal<Stage>("quiet");
  readonly spin = signal<Spin | null>(null);
  /** Where the ball lies when nothing turns. */
  readonly lying = signal<string | null>(null);
  readonly told = signal<Told | null>(null);
  /** The outcomes that may be seen: the newest only once its ball lies. */
  readonly past = signal<readonly PastOutcome[]>([]);
  readonly voided = signal<Words | null>(null);
  /** The number that is marked on the board. */
  readonly marked = computed(() =>
    this.stage.value === "quiet" || this.stage.value === "rolling" ? null : (this.told.value?.number ?? null),
  );

  private readonly numbers: ReadonlyMap<string, ReadonlySet<string>>;
  private latest: readonly PastOutcome[] = [];
  private roundId = "";
  /** The marked number has been there long enough to be seen. */
  private seen = false;
  /** Where there is little time for the result everything is quicker. */
  private pace = 1;
  private cancel: () => void = () => undefined;

  constructor(
    layout: Layout,
    private readonly clock: Clock,
  ) {
    this.numbers = new Map(layout.places.map(({ place, numbers }) => [place, new Set(numbers)]));
  }

  /** Whether chips on a place have won. */
  wins(place: string): boolean {
    const number = this.told.value?.number;
    return number !== undefined && (this.numbers.get(place)?.has(number) ?? false);
  }

  /** Everything anew: a ball whose roll was missed lies already. */
  picture(table: TableSnapshot, bets: Laid): void {
    this.latest = table.past;
    const drawn = table.round?.outcome;
    if (this.stage.value === "rolling" && (table.round?.round_id === this.roundId || !drawn)) return;
    this.cancel();
    this.spin.value = null;
    this.past.value = table.past;
    this.lying.value = numberOf(drawn ?? table.past[0]?.outcome) || null;
    if (drawn) {
      const number = numberOf(drawn);
      this.roundId = table.round?.round_id ?? "";
      this.told.value = { outcome: drawn, number, bets, settled: false, staked_cents: 0, payout_cents: 0 };
      this.stage.value = "paid";
    } else if (table.phase === "PHASE_BETTING") this.quiet();
  }

  happened(event: TableEvent, table: TableSnapshot, own: { seat: number | undefined; bets: Laid }): void {
    this.latest = table.past;
    const { outcome_drawn, round_settled, round_void, round_opened } = event;
    if (outcome_drawn?.outcome) this.drawn(outcome_drawn.round_id, outcome_drawn.outcome, table, own.bets);
    else if (round_settled?.round_id === this.roundId) {
      const mine = round_settled.results.find(({ seat }) => seat === own.seat);
      this.settled(cents(mine?.staked_cents), cents(mine?.payout_cents));
    } else if (round_void) {
      this.quiet();
      this.voided.value = round_void.words ?? null;
    } else if (round_opened) {
      this.voided.value = null;
      // Alone the next round is open at once, and waits; at a table for many its window has begun.
      if (table.configuration?.play !== "PLAY_INDIVIDUAL") this.quiet();
    }
  }

  /** The result has been seen: the player goes on. */
  dismiss(): void {
    if (this.stage.value !== "quiet" && this.stage.value !== "rolling") this.quiet();
  }

  end(): void {
    this.cancel();
  }

  private drawn(round_id: string, outcome: Any, table: TableSnapshot, bets: Laid): void {
    this.cancel();
    const number = numberOf(outcome);
    const { result_shown_ms = 0, play } = table.configuration ?? {};
    const from_ms = this.clock.now();
    const duration = rolling_ms(result_shown_ms, play === "PLAY_INDIVIDUAL", this.clock.still());
    this.roundId = round_id;
    this.pace = result_shown_ms ? Math.min(1, (result_shown_ms - duration) / RESULT_MS) : 1;
    this.told.value = { outcome, number, bets, settled: false, staked_cents: 0, payout_cents: 0 };
    this.spin.value = { key: round_id, number, from_ms, until_ms: from_ms + duration };
    this.stage.value = "rolling";
    this.after(duration, () => this.lies());
  }

  private lies(): void {
    this.spin.value = null;
    this.lying.value = this.told.value?.number ?? null;
    this.past.value = this.latest;
    this.seen = false;
    this.stage.value = "marked";
    this.after(MARKED_MS * this.pace, () => {
      this.seen = true;
      this.collect();
    });
  }

  private settled(staked_cents: Cents, payout_cents: Cents): void {
    if (!this.told.value) return;
    this.told.value = { ...this.told.value, settled: true, staked_cents, payout_cents };
    this.collect();
  }

  /** First what lost goes, then what won is paid (804/2015:17). */
  private collect(): void {
    if (this.stage.value !== "marked" || !this.seen || !this.told.value?.settled) return;
    this.stage.value = "collected";
    this.after(COLLECTED_MS * this.pace, () => {
      this.stage.value = "paid";
    });
  }

  private quiet(): void {
    this.cancel();
    if (this.stage.value === "rolling") this.lying.value = this.told.value?.number ?? null;
    this.spin.value = null;
    this.past.value = this.latest;
    this.told.value = null;
    this.stage.value = "quiet";
  }

  private after(ms: number, then: () => void): void {
    this.cancel = this.clock.later(ms, then);
  }
}
