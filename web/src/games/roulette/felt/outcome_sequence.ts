// Shows a round's outcome in stages: the ball rolls and rests, the number is marked, chips are collected, then paid.
//
// It decides nothing: it starts with the platform's outcome and ends before bets are taken again. A player who arrives in
// the middle sees the rest; the result stays readable while the next round takes bets.
import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Any, LocalizedText, PastOutcome, TableEvent, TableSnapshot } from "../../../api/messages";
import { NO_BETS, type PlacedBets } from "../../../bets/bets";
import { KeptResult } from "../../../results/kept_result";
import type { OwnResult } from "../../../results/own_result";
import { type Cents, cents } from "../../../words/money";
import { voidText } from "../../../words/reasons";
import type { Layout } from "../layout/messages";
import type { Spin } from "../wheel/wheel_motion";
import { EMPTIED_ROUND } from "../words/frame_texts";
import { drawnNumber } from "../words/outcomes";
import type { RoundResult } from "./results";
import { sequenceTiming, type Timing } from "./sequence_timing";

/** `quiet`: no outcome is being shown. The number is public from `marked` on. */
export type Stage = "quiet" | "rolling" | "marked" | "collected" | "paid";

export interface Clock {
  now(): number;
  /** The platform's time, in milliseconds since 1970. */
  serverNow(): number;
  after(ms: number, then: () => void): () => void;
  /** The player prefers reduced motion. */
  reducedMotion(): boolean;
}

// An outcome this young starts from its beginning: clocks differ a little.
const JUST_NOW_MS = 500;
// The settlement comes a little after the draw, and the result is shown from then on.
const SETTLES_WITHIN_MS = 3000;
// How long won chips lie beside their prize at an individual table, where the next round waits for the player.
const SWEPT_AFTER_MS = 2000;
// How much longer the plaque covers what it covers.
const ASIDE_AFTER_MS = 2000;

export class OutcomeSequence {
  readonly stage = signal<Stage>("quiet");
  readonly spin = signal<Spin | null>(null);
  /** The number on which the ball rests. */
  readonly restingNumber = signal<string | null>(null);
  readonly result = signal<RoundResult | null>(null);
  /** The outcomes that may be shown: the newest only after its ball has come to rest. */
  readonly visiblePast = signal<readonly PastOutcome[]>([]);
  readonly voided = signal<LocalizedText | null>(null);
  /** At an individual table: what was paid has been swept to the player, and lies in the way no more. */
  readonly swept = signal(false);
  /** The plaque has been shown for long enough. */
  readonly plaqueDone = signal(false);
  /** The previous result, while the next round takes bets. */
  readonly keptResult: ReadonlySignal<RoundResult | null>;
  /** The number that is marked on the board. */
  readonly marked = computed(() =>
    this.stage.value === "quiet" || this.stage.value === "rolling" ? null : (this.result.value?.number ?? null),
  );

  private readonly numbers: ReadonlyMap<string, ReadonlySet<string>>;
  private readonly keeper: KeptResult<RoundResult>;
  private latest: readonly PastOutcome[] = [];
  private timing: Timing = sequenceTiming(undefined, false);
  private individual = false;
  /** The marked number has been shown for long enough. */
  private markSeen = false;
  /** Collecting and paying were over before the player arrived. */
  private joinedLate = false;
  /** The result could not be read. */
  private resultUnknown = false;
  /** The round whose outcome was shown last; it is not shown again. */
  private lastShown = "";
  private cancelTimer: () => void = () => undefined;

  constructor(
    layout: Layout,
    private readonly clock: Clock,
  ) {
    this.numbers = new Map(layout.places.map(({ place, numbers }) => [place, new Set(numbers)]));
    this.keeper = new KeptResult(clock.after);
    this.keptResult = this.keeper.result;
  }

  /** Whether bets on a place have won. */
  wins(place: string): boolean {
    const number = this.result.value?.number;
    return number !== undefined && this.covers(place, number);
  }

  covers(place: string, number: string): boolean {
    return this.numbers.get(place)?.has(number) ?? false;
  }

  /** Starts from a snapshot. Returns a round whose result has to be read, if there is one. */
  takeSnapshot(table: TableSnapshot, bets: PlacedBets): string | null {
    // Between two snapshots nothing is shown.
    return batch(() => this.readSnapshot(table, bets));
  }

  /** The result of a round that `takeSnapshot` returned. */
  recordRead(round_id: string, ownResult: OwnResult): void {
    const result = this.result.value;
    if (result?.round_id === round_id) {
      if (result.settled) return;
      this.result.value = { ...result, bets: ownResult.bets };
      if (ownResult.settled) this.settle(ownResult.staked_cents, ownResult.payout_cents);
      return;
    }
    const outcome = this.latest[0]?.round_id === round_id ? this.latest[0].outcome : undefined;
    if (this.stage.value !== "quiet" || !outcome || !ownResult.settled || !ownResult.staked_cents) return;
    this.keeper.keep({ ...ownResult, round_id, outcome, number: drawnNumber(outcome) }, this.timing.read_ms);
  }

  /** The result could not be read: only the number is shown. */
  recordUnavailable(round_id: string): void {
    if (this.result.value?.round_id !== round_id || this.result.value.settled) return;
    this.resultUnknown = true;
    this.collect();
  }

  takeEvent(event: TableEvent, table: TableSnapshot, own: { seat: number | undefined; bets: PlacedBets }): void {
    this.latest = table.past_outcomes;
    const { betting_closed, outcome_drawn, round_settled, round_voided, round_opened } = event;
    if (betting_closed) this.keeper.forget();
    else if (outcome_drawn?.outcome) {
      this.cancelTimer();
      this.readConfiguration(table);
      this.beginRound(outcome_drawn.round_id, outcome_drawn.outcome, own.bets, event.at ? this.age_ms(event.at) : 0);
    } else if (round_settled && round_settled.round_id === this.result.value?.round_id) {
      const seatResult = round_settled.results.find(({ seat }) => seat === own.seat);
      this.settle(cents(seatResult?.staked_cents), cents(seatResult?.payout_cents));
    } else if (round_voided) {
      this.finish();
      this.voided.value = voidText(round_voided, EMPTIED_ROUND) ?? null;
    } else if (round_opened) {
      this.voided.value = null;
      this.readConfiguration(table);
      // At an individual table the next round opens at once, and waits; at others its betting window has begun.
      if (!this.individual) this.finish();
    }
  }

  /** The player goes on, having seen the result. */
  dismiss(): void {
    if (this.stage.value !== "quiet" && this.stage.value !== "rolling") this.finish();
    this.keeper.playerBets();
  }

  stop(): void {
    this.cancelTimer();
    this.keeper.forget();
  }

  private readSnapshot(table: TableSnapshot, bets: PlacedBets): string | null {
    this.latest = table.past_outcomes;
    this.readConfiguration(table);
    const newest = table.past_outcomes[0];
    const result = this.result.value;
    const isShown = newest !== undefined && this.isUnfolding(table, newest, bets);
    // It is being shown already; only its end may have been missed.
    if (isShown && result?.round_id === newest.round_id) return result.settled ? null : newest.round_id;
    this.finish();
    this.voided.value = null;
    this.restingNumber.value = drawnNumber(newest?.outcome) || null;
    if (isShown) {
      const ownBets = newest.round_id === table.round?.round_id ? bets : NO_BETS;
      this.visiblePast.value = table.past_outcomes.slice(1);
      this.restingNumber.value = drawnNumber(table.past_outcomes[1]?.outcome) || null;
      this.beginRound(newest.round_id, newest.outcome as Any, ownBets, this.age_ms(newest.drawn_at));
      return newest.round_id;
    }
    if (table.phase !== "PHASE_BETTING") this.keeper.forget();
    else if (newest && !this.keeper.hasKept(newest.round_id) && this.readable(newest)) return newest.round_id;
    return null;
  }

  private readConfiguration({ configuration }: TableSnapshot): void {
    this.individual = configuration?.play === "PLAY_INDIVIDUAL";
    this.timing = sequenceTiming(configuration, this.clock.reducedMotion());
  }

  /** Whether the newest outcome is that of the round being shown. */
  private isUnfolding(table: TableSnapshot, newest: PastOutcome, bets: PlacedBets): boolean {
    if (!newest.outcome) return false;
    if (this.result.value?.round_id === newest.round_id) return this.individual || table.phase !== "PHASE_BETTING";
    if (table.round?.outcome) return true;
    // A void round is shown too, without an outcome: the newest one then belongs to an older round.
    const shown_ms = table.configuration?.result_shown_ms ?? 0;
    if (table.phase === "PHASE_RESULT_SHOWN") return this.age_ms(newest.drawn_at) < shown_ms + SETTLES_WITHIN_MS;
    const waits = this.individual && table.phase === "PHASE_BETTING" && bets.size === 0;
    return waits && newest.round_id !== this.lastShown && this.readable(newest);
  }

  /** Whether a player who had stayed would still be reading the result. */
  private readable({ drawn_at }: PastOutcome): boolean {
    const { rolls_ms, marked_ms, collected_ms, read_ms } = this.timing;
    return this.age_ms(drawn_at) < rolls_ms + marked_ms + collected_ms + read_ms;
  }

  private age_ms(at: string | undefined): number {
    if (!at) return Number.POSITIVE_INFINITY;
    const age_ms = this.clock.serverNow() - Date.parse(at);
    return age_ms > JUST_NOW_MS ? age_ms : 0;
  }

  /** Starts the sequence `age_ms` after the draw. */
  private beginRound(round_id: string, outcome: Any, bets: PlacedBets, age_ms: number): void {
    const { rolls_ms, marked_ms, collected_ms } = this.timing;
    const number = drawnNumber(outcome);
    this.keeper.forget();
    this.swept.value = false;
    this.plaqueDone.value = false;
    this.resultUnknown = false;
    this.joinedLate = age_ms >= rolls_ms + marked_ms + collected_ms;
    this.result.value = { round_id, outcome, number, bets, settled: false, staked_cents: 0, payout_cents: 0 };
    if (age_ms >= rolls_ms) {
      this.ballRests();
      return;
    }
    const from_ms = this.clock.now() - age_ms;
    this.spin.value = { key: round_id, number, from_ms, until_ms: from_ms + rolls_ms };
    this.stage.value = "rolling";
    this.schedule(rolls_ms - age_ms, () => this.ballRests());
  }

  private ballRests(): void {
    this.spin.value = null;
    this.restingNumber.value = this.result.value?.number ?? null;
    this.visiblePast.value = this.latest;
    this.markSeen = this.joinedLate;
    this.stage.value = "marked";
    if (this.joinedLate) this.collect();
    else {
      this.schedule(this.timing.marked_ms, () => {
        this.markSeen = true;
        this.collect();
      });
    }
  }

  private settle(staked_cents: Cents, payout_cents: Cents): void {
    if (!this.result.value) return;
    this.result.value = { ...this.result.value, settled: true, staked_cents, payout_cents };
    this.collect();
  }

  /** First losing bets are collected, then winning ones are paid (804/2015:17). */
  private collect(): void {
    if (this.stage.value !== "marked" || !this.markSeen) return;
    if (!this.result.value?.settled) {
      if (this.resultUnknown) this.finish();
    } else if (this.joinedLate) this.pay();
    else {
      this.stage.value = "collected";
      this.schedule(this.timing.collected_ms, () => this.pay());
    }
  }

  private pay(): void {
    this.stage.value = "paid";
    if (this.result.value) this.keeper.keep(this.result.value, this.timing.read_ms);
    if (this.individual) {
      this.schedule(SWEPT_AFTER_MS, () => {
        this.swept.value = true;
        this.schedule(ASIDE_AFTER_MS, () => {
          this.plaqueDone.value = true;
        });
      });
    }
  }

  private finish(): void {
    this.cancelTimer();
    const result = this.result.value;
    if (this.stage.value === "rolling") this.restingNumber.value = result?.number ?? null;
    if (result) this.lastShown = result.round_id;
    // A result that was cut short stays readable.
    if (result?.settled) this.keeper.keep(result, this.timing.read_ms);
    this.spin.value = null;
    this.visiblePast.value = this.latest;
    this.result.value = null;
    this.swept.value = false;
    this.plaqueDone.value = false;
    this.stage.value = "quiet";
  }

  private schedule(ms: number, then: () => void): void {
    this.cancelTimer = this.clock.after(ms, then);
  }
}
