// What the table shows of a round, and when: the ball rolls, lies, the number is marked, chips are collected, then paid.
//
// Nothing here decides anything: it begins with the platform's word of the outcome, and is over before bets are taken again.
// Whoever comes in the middle of it sees the rest; what it came to stays to be read while the next round takes bets.
import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Any, PastOutcome, TableEvent, TableSnapshot, Words } from "../../api/messages";
import { type Cents, cents } from "../../words/money";
import { voidWords } from "../../words/reasons";
import { type Laid, type Layout, NOTHING } from "./bets";
import { type Timing, timing } from "./felt_timing";
import { numberOf } from "./outcome_words";
import { ResultKept } from "./result_kept";
import type { Spin } from "./wheel";

/** `quiet`: nothing is being told. The number is marked from `marked` on. */
export type Stage = "quiet" | "rolling" | "marked" | "collected" | "paid";

/** What a round came to for the player. */
export interface Brought {
  /** His own chips as they lay. */
  bets: Laid;
  /** The platform has told what it came to; until then nothing is collected or paid. */
  settled: boolean;
  staked_cents: Cents;
  payout_cents: Cents;
}

export interface Told extends Brought {
  round_id: string;
  outcome: Any;
  number: string;
}

export interface Clock {
  now(): number;
  /** The platform's, in milliseconds since 1970. */
  platform(): number;
  later(ms: number, then: () => void): () => void;
  /** The player wants nothing to move. */
  still(): boolean;
}

// What is heard so soon after it happened begins at its beginning: clocks differ a little.
const JUST_NOW_MS = 500;
// A result is on show from its settlement on, which comes a little after the draw.
const SETTLES_WITHIN_MS = 3000;
// Won chips lie beside their prize for so long, where the next round waits for the player.
const SWEPT_AFTER_MS = 2000;
// And the plaque may lie over something else for so much longer.
const ASIDE_AFTER_MS = 2000;

export class FeltStory {
  readonly stage = signal<Stage>("quiet");
  readonly spin = signal<Spin | null>(null);
  /** Where the ball lies when nothing turns. */
  readonly lying = signal<string | null>(null);
  readonly told = signal<Told | null>(null);
  /** The outcomes that may be seen: the newest only once its ball lies. */
  readonly past = signal<readonly PastOutcome[]>([]);
  readonly voided = signal<Words | null>(null);
  /** Alone at a table what was paid is the player's, and lies no more where he may bet again. */
  readonly swept = signal(false);
  /** What it came to has been told large for long enough. */
  readonly aside = signal(false);
  /** The round before, while the next one takes bets. */
  readonly kept: ReadonlySignal<Told | null>;
  /** The number that is marked on the board. */
  readonly marked = computed(() =>
    this.stage.value === "quiet" || this.stage.value === "rolling" ? null : (this.told.value?.number ?? null),
  );

  private readonly numbers: ReadonlyMap<string, ReadonlySet<string>>;
  private readonly keeping: ResultKept;
  private latest: readonly PastOutcome[] = [];
  private times: Timing = timing(undefined, false);
  private individual = false;
  /** The marked number has been there long enough to be seen. */
  private seen = false;
  /** Collecting and paying were over before anybody looked. */
  private late = false;
  /** Nobody could say what it came to. */
  private unknown = false;
  /** The round that was told last; it is not told again. */
  private over = "";
  private cancel: () => void = () => undefined;

  constructor(
    layout: Layout,
    private readonly clock: Clock,
  ) {
    this.numbers = new Map(layout.places.map(({ place, numbers }) => [place, new Set(numbers)]));
    this.keeping = new ResultKept(clock.later);
    this.kept = this.keeping.told;
  }

  /** Whether chips on a place have won. */
  wins(place: string): boolean {
    const number = this.told.value?.number;
    return number !== undefined && this.covers(place, number);
  }

  covers(place: string, number: string): boolean {
    return this.numbers.get(place)?.has(number) ?? false;
  }

  /** Everything anew. The answer is a round of which it has to be asked what it came to, if there is one. */
  picture(table: TableSnapshot, bets: Laid): string | null {
    // Between two pictures there is nothing to be seen.
    return batch(() => this.pictured(table, bets));
  }

  /** What a round that `picture` asked for came to. */
  learns(round_id: string, brought: Brought): void {
    const told = this.told.value;
    if (told?.round_id === round_id) {
      if (told.settled) return;
      this.told.value = { ...told, bets: brought.bets };
      if (brought.settled) this.settled(brought.staked_cents, brought.payout_cents);
      return;
    }
    const outcome = this.latest[0]?.round_id === round_id ? this.latest[0].outcome : undefined;
    if (this.stage.value !== "quiet" || !outcome || !brought.settled || !brought.staked_cents) return;
    this.keeping.keep({ ...brought, round_id, outcome, number: numberOf(outcome) }, this.times.read_ms);
  }

  /** Nobody could say what it came to: its number is told, and no more. */
  learnsNothing(round_id: string): void {
    if (this.told.value?.round_id !== round_id || this.told.value.settled) return;
    this.unknown = true;
    this.collect();
  }

  happened(event: TableEvent, table: TableSnapshot, own: { seat: number | undefined; bets: Laid }): void {
    this.latest = table.past;
    const { betting_closed, outcome_drawn, round_settled, round_void, round_opened } = event;
    if (betting_closed) this.keeping.forget();
    else if (outcome_drawn?.outcome) {
      this.cancel();
      this.heed(table);
      this.begins(outcome_drawn.round_id, outcome_drawn.outcome, own.bets, event.at ? this.age_ms(event.at) : 0);
    } else if (round_settled && round_settled.round_id === this.told.value?.round_id) {
      const mine = round_settled.results.find(({ seat }) => seat === own.seat);
      this.settled(cents(mine?.staked_cents), cents(mine?.payout_cents));
    } else if (round_void) {
      this.quiet();
      this.voided.value = voidWords(round_void) ?? null;
    } else if (round_opened) {
      this.voided.value = null;
      this.heed(table);
      // Alone the next round is open at once, and waits; at a table for many its window has begun.
      if (!this.individual) this.quiet();
    }
  }

  /** The result has been seen: the player goes on. */
  dismiss(): void {
    if (this.stage.value !== "quiet" && this.stage.value !== "rolling") this.quiet();
    this.keeping.goesOn();
  }

  end(): void {
    this.cancel();
    this.keeping.forget();
  }

  private pictured(table: TableSnapshot, bets: Laid): string | null {
    this.latest = table.past;
    this.heed(table);
    const newest = table.past[0];
    const told = this.told.value;
    const unfolding = newest !== undefined && this.unfolds(table, newest, bets);
    // It is being told already; only its end may have been missed.
    if (unfolding && told?.round_id === newest.round_id) return told.settled ? null : newest.round_id;
    this.quiet();
    this.voided.value = null;
    this.lying.value = numberOf(newest?.outcome) || null;
    if (unfolding) {
      const mine = newest.round_id === table.round?.round_id ? bets : NOTHING;
      this.past.value = table.past.slice(1);
      this.lying.value = numberOf(table.past[1]?.outcome) || null;
      this.begins(newest.round_id, newest.outcome as Any, mine, this.age_ms(newest.drawn_at));
      return newest.round_id;
    }
    if (table.phase !== "PHASE_BETTING") this.keeping.forget();
    else if (newest && !this.keeping.knows(newest.round_id) && this.readable(newest)) return newest.round_id;
    return null;
  }

  private heed({ configuration }: TableSnapshot): void {
    this.individual = configuration?.play === "PLAY_INDIVIDUAL";
    this.times = timing(configuration, this.clock.still());
  }

  /** Whether the newest outcome is that of the round which is being shown. */
  private unfolds(table: TableSnapshot, newest: PastOutcome, bets: Laid): boolean {
    if (!newest.outcome) return false;
    if (this.told.value?.round_id === newest.round_id) return this.individual || table.phase !== "PHASE_BETTING";
    if (table.round?.outcome) return true;
    // A void round is shown too, and has no outcome: then the newest is an older one.
    const shown_ms = table.configuration?.result_shown_ms ?? 0;
    if (table.phase === "PHASE_SHOWN") return this.age_ms(newest.drawn_at) < shown_ms + SETTLES_WITHIN_MS;
    const waits = this.individual && table.phase === "PHASE_BETTING" && bets.size === 0;
    return waits && newest.round_id !== this.over && this.readable(newest);
  }

  /** Whether one who had been here would still read what it came to. */
  private readable({ drawn_at }: PastOutcome): boolean {
    const { rolls_ms, marked_ms, collected_ms, read_ms } = this.times;
    return this.age_ms(drawn_at) < rolls_ms + marked_ms + collected_ms + read_ms;
  }

  private age_ms(at: string | undefined): number {
    if (!at) return Number.POSITIVE_INFINITY;
    const age_ms = this.clock.platform() - Date.parse(at);
    return age_ms > JUST_NOW_MS ? age_ms : 0;
  }

  /** `age_ms` after its draw. */
  private begins(round_id: string, outcome: Any, bets: Laid, age_ms: number): void {
    const { rolls_ms, marked_ms, collected_ms } = this.times;
    const number = numberOf(outcome);
    this.keeping.forget();
    this.swept.value = false;
    this.aside.value = false;
    this.unknown = false;
    this.late = age_ms >= rolls_ms + marked_ms + collected_ms;
    this.told.value = { round_id, outcome, number, bets, settled: false, staked_cents: 0, payout_cents: 0 };
    if (age_ms >= rolls_ms) {
      this.lies();
      return;
    }
    const from_ms = this.clock.now() - age_ms;
    this.spin.value = { key: round_id, number, from_ms, until_ms: from_ms + rolls_ms };
    this.stage.value = "rolling";
    this.after(rolls_ms - age_ms, () => this.lies());
  }

  private lies(): void {
    this.spin.value = null;
    this.lying.value = this.told.value?.number ?? null;
    this.past.value = this.latest;
    this.seen = this.late;
    this.stage.value = "marked";
    if (this.late) this.collect();
    else {
      this.after(this.times.marked_ms, () => {
        this.seen = true;
        this.collect();
      });
    }
  }

  private settled(staked_cents: Cents, payout_cents: Cents): void {
    if (!this.told.value) return;
    this.told.value = { ...this.told.value, settled: true, staked_cents, payout_cents };
    this.collect();
  }

  /** First what lost goes, then what won is paid (804/2015:17). */
  private collect(): void {
    if (this.stage.value !== "marked" || !this.seen) return;
    if (!this.told.value?.settled) {
      if (this.unknown) this.quiet();
    } else if (this.late) this.pays();
    else {
      this.stage.value = "collected";
      this.after(this.times.collected_ms, () => this.pays());
    }
  }

  private pays(): void {
    this.stage.value = "paid";
    if (this.told.value) this.keeping.keep(this.told.value, this.times.read_ms);
    if (this.individual) {
      this.after(SWEPT_AFTER_MS, () => {
        this.swept.value = true;
        this.after(ASIDE_AFTER_MS, () => {
          this.aside.value = true;
        });
      });
    }
  }

  private quiet(): void {
    this.cancel();
    const told = this.told.value;
    if (this.stage.value === "rolling") this.lying.value = told?.number ?? null;
    if (told) this.over = told.round_id;
    // Whatever was cut short can still be read.
    if (told?.settled) this.keeping.keep(told, this.times.read_ms);
    this.spin.value = null;
    this.past.value = this.latest;
    this.told.value = null;
    this.swept.value = false;
    this.aside.value = false;
    this.stage.value = "quiet";
  }

  private after(ms: number, then: () => void): void {
    this.cancel = this.clock.later(ms, then);
  }
}
