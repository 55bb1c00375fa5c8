// Shows a round's outcome in stages: cards are dealt and turned, the winner is called, chips are collected, then paid.
//
// It decides nothing: it starts with the platform's outcome, and the result is public when the platform says that the cards
// lie on the table. A player who arrives in the middle sees the rest; the result stays readable while bets are taken again.
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import type { LocalizedText, PastOutcome, TableEvent, TableSnapshot } from "../../../api/messages";
import { NO_BETS, type PlacedBets } from "../../../bets/bets";
import type { Span } from "../../../cards/card_motion";
import { KeptResult } from "../../../results/kept_result";
import type { OwnResult } from "../../../results/own_result";
import { cents } from "../../../words/money";
import { voidText } from "../../../words/reasons";
import type { Outcome } from "../layout/messages";
import { EMPTIED_ROUND } from "../words/frame_texts";
import { outcomeOf, type Side } from "../words/outcomes";
import {
  type CardCounts,
  type DealScript,
  dealScript,
  dealtAfter,
  momentsOf,
  NO_CARDS,
  revealedAfter,
} from "./deal_script";
import type { RoundResult } from "./results";

/** `quiet`: no outcome is being shown. The winner is public from `called` on. */
export type Stage = "quiet" | "dealing" | "called" | "collected" | "paid";

export interface Clock {
  now(): number;
  /** The platform's time, in milliseconds since 1970. */
  serverNow(): number;
  after(ms: number, then: () => void): () => void;
}

const CALLED_MS = 900;
const COLLECTED_MS = 600;
// Calling and collecting speed up where the result has less time than this.
const UNHURRIED_MS = 2500;
// How long a result stays readable at least, and never less than the table shows its results.
const READ_MS = 6000;

export class DealSequence {
  readonly stage = signal<Stage>("quiet");
  readonly result = signal<RoundResult | null>(null);
  /** How many cards of each side have left the shoe: whether there will be an additional one is not known before. */
  readonly dealt = signal<CardCounts>(NO_CARDS);
  /** How many cards of each side lie open. */
  readonly revealed = signal<CardCounts>(NO_CARDS);
  /** The outcomes that may be shown, newest first. */
  readonly visiblePast = signal<readonly PastOutcome[]>([]);
  readonly voided = signal<LocalizedText | null>(null);
  /** The previous result, while the next round takes bets. */
  readonly keptResult: ReadonlySignal<RoundResult | null>;

  private readonly keeper: KeptResult<RoundResult>;
  private latest: readonly PastOutcome[] = [];
  private script: DealScript = dealScript(2, 2, 0);
  /** When the deal began, on the page's own clock. */
  private begun_ms = 0;
  private individual = false;
  private result_shown_ms = 0;
  /** The call has been seen for long enough. */
  private callSeen = false;
  /** Collecting and paying were over before the player arrived. */
  private joinedLate = false;
  /** The result could not be read. */
  private resultUnknown = false;
  private cancelTimers: (() => void)[] = [];

  constructor(private readonly clock: Clock) {
    this.keeper = new KeptResult<RoundResult>(clock.after);
    this.keptResult = this.keeper.result;
  }

  /** When a card slides to its place, on the clock of `performance.now()`. */
  slide(side: Side, index: number): Span | undefined {
    const span = this.script[side][index];
    return span && { from_ms: this.begun_ms + span.from_ms, until_ms: this.begun_ms + span.until_ms };
  }

  /** Starts from a snapshot. Returns a round whose result has to be read, if there is one. */
  takeSnapshot(table: TableSnapshot, bets: PlacedBets): string | null {
    return batch(() => this.readSnapshot(table, bets));
  }

  /** The result of a round that `takeSnapshot` returned. */
  recordRead(round_id: string, own: OwnResult): void {
    const result = this.result.value;
    if (result?.round_id !== round_id || result.settled) return;
    this.result.value = { ...result, bets: own.bets };
    if (own.settled) this.settle(own.staked_cents, own.payout_cents);
  }

  /** The result could not be read: only the cards are shown. */
  recordUnavailable(round_id: string): void {
    if (this.result.value?.round_id !== round_id || this.result.value.settled) return;
    this.resultUnknown = true;
    this.collect();
  }

  takeEvent(event: TableEvent, table: TableSnapshot, own: { seat: number | undefined; bets: PlacedBets }): void {
    this.latest = table.past_outcomes;
    const { betting_closed, outcome_drawn, round_settled, round_voided, round_opened } = event;
    const outcome = outcomeOf(outcome_drawn?.outcome);
    if (betting_closed) this.keeper.forget();
    else if (outcome && outcome_drawn) {
      this.readConfiguration(table);
      const times = { drawn_at: event.at, shown_at: outcome_drawn.shown_at };
      batch(() => this.begin(outcome_drawn.round_id, outcome, own.bets, times, table));
    } else if (round_settled && round_settled.round_id === this.result.value?.round_id) {
      const seatResult = round_settled.results.find(({ seat }) => seat === own.seat);
      this.settle(cents(seatResult?.staked_cents), cents(seatResult?.payout_cents));
    } else if (round_voided) {
      batch(() => this.finish());
      this.voided.value = voidText(round_voided, EMPTIED_ROUND) ?? null;
    } else if (round_opened) {
      this.voided.value = null;
      this.readConfiguration(table);
      // At an individual table the next round opens at once, and waits; at others its betting window has begun.
      if (!this.individual) batch(() => this.finish());
    }
  }

  /** The player goes on, having seen the result. */
  dismiss(): void {
    if (this.stage.value !== "quiet" && this.stage.value !== "dealing") batch(() => this.finish());
    this.keeper.playerBets();
  }

  stop(): void {
    this.cancel();
    this.keeper.forget();
  }

  private readSnapshot(table: TableSnapshot, bets: PlacedBets): string | null {
    this.latest = table.past_outcomes;
    this.readConfiguration(table);
    const newest = table.past_outcomes[0];
    const outcome = outcomeOf(newest?.outcome);
    const result = this.result.value;
    const isShown = newest !== undefined && outcome !== null && this.isUnfolding(table, newest, outcome);
    // It is being shown already; only its end may have been missed.
    if (isShown && result?.round_id === newest.round_id) return result.settled ? null : newest.round_id;
    this.finish();
    this.voided.value = null;
    if (!isShown) {
      if (table.phase !== "PHASE_BETTING") this.keeper.forget();
      return null;
    }
    const ofRound = newest.round_id === table.round?.round_id;
    const times = { drawn_at: newest.drawn_at, shown_at: ofRound ? table.round?.shown_at : undefined };
    this.visiblePast.value = table.past_outcomes.slice(1);
    this.begin(newest.round_id, outcome, ofRound ? bets : NO_BETS, times, table);
    return newest.round_id;
  }

  private readConfiguration({ configuration }: TableSnapshot): void {
    this.individual = configuration?.play === "PLAY_INDIVIDUAL";
    this.result_shown_ms = configuration?.result_shown_ms ?? 0;
  }

  /** Whether the newest outcome is being shown at this moment. */
  private isUnfolding(table: TableSnapshot, newest: PastOutcome, outcome: Outcome): boolean {
    if (this.result.value?.round_id === newest.round_id) return this.individual || table.phase !== "PHASE_BETTING";
    if (table.round?.outcome && table.round.round_id === newest.round_id) return true;
    const shown_ms = this.shown_ms(outcome, { drawn_at: newest.drawn_at, shown_at: undefined }, table);
    const now = this.clock.serverNow();
    // A void round is shown too, without an outcome: the newest one then belongs to an older round.
    if (table.phase === "PHASE_RESULT_SHOWN") return now < shown_ms + Math.max(this.result_shown_ms, CALLED_MS);
    return now < shown_ms;
  }

  /** When the cards of an outcome lie on the table; a snapshot may leave it to be computed. */
  private shown_ms(
    { ponto, banca }: Outcome,
    { drawn_at, shown_at }: { drawn_at: string | undefined; shown_at: string | undefined },
    { configuration }: TableSnapshot,
  ): number {
    if (shown_at) return Date.parse(shown_at);
    if (!drawn_at) return 0;
    return Date.parse(drawn_at) + (ponto.length + banca.length) * (configuration?.dealing_ms ?? 0);
  }

  private begin(
    round_id: string,
    outcome: Outcome,
    bets: PlacedBets,
    times: { drawn_at: string | undefined; shown_at: string | undefined },
    table: TableSnapshot,
  ): void {
    this.cancel();
    this.keeper.forget();
    this.resultUnknown = false;
    const [server, now] = [this.clock.serverNow(), this.clock.now()];
    const shown_ms = this.shown_ms(outcome, times, table);
    const left_ms = shown_ms - server;
    const length_ms = Math.max(0, times.drawn_at ? shown_ms - Date.parse(times.drawn_at) : left_ms);
    this.script = dealScript(outcome.ponto.length, outcome.banca.length, length_ms);
    this.begun_ms = now + left_ms - length_ms;
    this.joinedLate = left_ms < -(CALLED_MS + COLLECTED_MS);
    this.result.value = { round_id, outcome, bets, settled: false, staked_cents: 0, payout_cents: 0 };
    if (left_ms <= 0) {
      this.call();
      return;
    }
    this.stage.value = "dealing";
    const passed_ms = length_ms - left_ms;
    const show = (ms: number) =>
      batch(() => {
        this.dealt.value = dealtAfter(this.script, ms);
        this.revealed.value = revealedAfter(this.script, ms);
      });
    show(passed_ms);
    for (const at_ms of momentsOf(this.script)) {
      if (at_ms > passed_ms) this.schedule(at_ms - passed_ms, () => show(at_ms));
    }
    this.schedule(left_ms, () => batch(() => this.call()));
  }

  /** The cards lie on the table: the winner is public. */
  private call(): void {
    const { outcome } = this.result.value as RoundResult;
    this.dealt.value = { ponto: outcome.ponto.length, banca: outcome.banca.length };
    this.revealed.value = this.dealt.value;
    this.visiblePast.value = this.latest;
    this.callSeen = this.joinedLate;
    this.stage.value = "called";
    if (this.joinedLate) this.collect();
    else {
      this.schedule(CALLED_MS * this.pace, () => {
        this.callSeen = true;
        this.collect();
      });
    }
  }

  private get pace(): number {
    return this.result_shown_ms ? Math.min(1, this.result_shown_ms / UNHURRIED_MS) : 1;
  }

  private settle(staked_cents: number, payout_cents: number): void {
    if (!this.result.value) return;
    this.result.value = { ...this.result.value, settled: true, staked_cents, payout_cents };
    this.collect();
  }

  /** First losing bets are collected, then winning ones are paid (812/2015:2.c). */
  private collect(): void {
    if (this.stage.value !== "called" || !this.callSeen) return;
    if (!this.result.value?.settled) {
      if (this.resultUnknown) this.finish();
    } else if (this.joinedLate) this.pay();
    else {
      this.stage.value = "collected";
      this.schedule(COLLECTED_MS * this.pace, () => this.pay());
    }
  }

  private pay(): void {
    this.stage.value = "paid";
    if (this.result.value) this.keeper.keep(this.result.value, Math.max(READ_MS, this.result_shown_ms));
  }

  private finish(): void {
    this.cancel();
    const result = this.result.value;
    // A result that was cut short stays readable.
    if (result?.settled) this.keeper.keep(result, Math.max(READ_MS, this.result_shown_ms));
    this.visiblePast.value = this.latest;
    this.result.value = null;
    this.dealt.value = NO_CARDS;
    this.revealed.value = NO_CARDS;
    this.stage.value = "quiet";
  }

  private schedule(ms: number, then: () => void): void {
    this.cancelTimers.push(this.clock.after(ms, then));
  }

  private cancel(): void {
    for (const cancel of this.cancelTimers.splice(0)) cancel();
  }
}
