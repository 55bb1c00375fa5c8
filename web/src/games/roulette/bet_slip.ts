// The player's own bets of a round: what he has put down, what of it counts, and how it is taken back.
//
// A click lies at once, as pending. One command is under way at a time; what is clicked meanwhile goes with the next one.
// What counts is what the platform says: the answers' `on_felt`, and the events of the own seat, which in the end hold
// everything (another page of the same player may bet at the same seat).
import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Balance, MethodName, Params, Result } from "../../api/messages";
import { Abandoned, Refusal } from "../../api/refusal";
import { type Cents, cents } from "../../words/money";
import {
  type CallBet,
  components,
  holds,
  type Laid,
  type Layout,
  laid,
  minus,
  NOTHING,
  type Place,
  plus,
  same,
  sent,
  sum,
  total,
} from "./bets";

/** What the slip needs of the page around it. */
export interface Desk {
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  requestId(): string;
  newer(balance: Balance): void;
  /** What may be staked, and which state of the account says so; null while it is not known. */
  free(): { cents: Cents; version: string } | null;
  /** Something has to be told to the player. */
  say(refusal: Refusal): void;
  later(ms: number, then: () => void): () => void;
}

/** Why something cannot be done now; null if it can. */
export type Bar = "closed" | "nothing" | "forbidden" | "limit" | "funds" | "none_before" | null;

// How long the events of commands that were answered may take; then what the events say counts.
const ECHOES_WITHIN_MS = 1500;

export class BetSlip {
  /** What counts. */
  readonly felt = signal<Laid>(NOTHING);
  /** The round that takes bets. */
  readonly round = signal<string | null>(null);
  readonly pending: ReadonlySignal<Laid>;
  readonly everything: ReadonlySignal<Laid>;
  readonly undoBar: ReadonlySignal<Bar>;
  readonly repeatBar: ReadonlySignal<Bar>;
  readonly doubleBar: ReadonlySignal<Bar>;

  private readonly queue = signal<readonly Laid[]>([]);
  private readonly flying = signal<readonly Laid[]>([]);
  /** Placements that count, in their order: what undo goes back by. */
  private readonly steps = signal<readonly Laid[]>([]);
  private readonly takeBackForbidden = signal(false);
  /** No round of his has ended here: there is none whose bets could be put again. */
  private readonly nothingBefore = signal(false);
  private hasPlayed = false;
  private readonly places: ReadonlyMap<string, Place>;
  private readonly callBets: ReadonlyMap<string, CallBet>;
  private readonly totalMaximum: Cents;

  private seen: Laid = NOTHING;
  private underWay = 0;
  private sentAtVersion = "";
  private line: Promise<void> = Promise.resolve();
  private cancelCheck: () => void = () => undefined;

  constructor(
    private readonly tableId: string,
    layout: Layout,
    private readonly desk: Desk,
  ) {
    this.places = new Map(layout.places.map((place) => [place.place, place]));
    this.callBets = new Map(layout.call_bets.map((bet) => [bet.place, bet]));
    this.totalMaximum = cents(layout.total_maximum_cents);
    this.pending = computed(() => sum([...this.flying.value, ...this.queue.value].flatMap((step) => [...step])));
    this.everything = computed(() => plus(this.felt.value, this.pending.value));
    this.undoBar = computed(() => {
      if (!this.round.value) return "closed";
      if (this.everything.value.size === 0) return "nothing";
      return this.takeBackForbidden.value ? "forbidden" : null;
    });
    this.repeatBar = computed(() => {
      if (!this.round.value) return "closed";
      return this.nothingBefore.value ? "none_before" : null;
    });
    this.doubleBar = computed(() => {
      if (!this.round.value) return "closed";
      if (this.everything.value.size === 0) return "nothing";
      const refusal = this.against(this.everything.value);
      if (!refusal) return null;
      return refusal.reason === "INSUFFICIENT_FUNDS" ? "funds" : "limit";
    });
  }

  // -- what the table says ---------------------------------------------------------------------------------------

  /** Everything anew, after entering and when something was missed. `stakes` are his placements, oldest first. */
  restore(round: string | null, onFelt: Laid, stakes: readonly Laid[], takeBackForbidden: boolean): void {
    if (round !== this.round.value) this.returnQueued();
    this.seen = onFelt;
    // A round is never seen with the chips of the one before.
    batch(() => {
      this.takeBackForbidden.value = takeBackForbidden;
      this.round.value = round;
      this.lies(onFelt, stakes);
    });
  }

  opened(round: string, takeBackForbidden: boolean): void {
    this.restore(round, NOTHING, [], takeBackForbidden);
  }

  /** Bets are taken no more; every event of a bet that counts has come before this. */
  closed(): void {
    this.round.value = null;
    if (this.seen.size > 0) {
      this.hasPlayed = true;
      this.nothingBefore.value = false;
    }
    this.returnQueued();
    this.lies(this.seen, []);
  }

  /** The round has ended without a result: all of it went back. */
  returned(): void {
    this.seen = NOTHING;
    this.lies(NOTHING, []);
  }

  /** He has not taken part in a round here: there is nothing to repeat, unless he has played meanwhile. */
  neverPlayed(): void {
    this.nothingBefore.value = !this.hasPlayed;
  }

  ownPlaced(bets: Laid): void {
    this.told(plus(this.seen, bets));
  }

  ownTakenBack(bets: Laid): void {
    this.told(minus(this.seen, bets));
  }

  // -- what the player does --------------------------------------------------------------------------------------

  /** Why these chips cannot be put down now, without asking anybody. */
  against(added: Laid): Refusal | null {
    const round_id = this.round.value;
    if (!round_id) return new Refusal("BETTING_CLOSED", {}, "", "No round takes bets.");
    const now = this.everything.value;
    for (const [name, value] of added) {
      const place = this.places.get(name);
      if (!place) return new Refusal("BET_NOT_OFFERED", { place: name }, "", "Not offered.");
      const { minimum_cents, maximum_cents, even_cents_only } = place;
      const facts = { place: name, amount_cents: String(value), minimum_cents, maximum_cents };
      if (value < cents(minimum_cents)) return new Refusal("BELOW_MINIMUM", facts, "", "Below the minimum.");
      if (even_cents_only && value % 2) return new Refusal("ODD_CENTS", facts, "", "Odd cents.");
      if ((now.get(name) ?? 0) + value > cents(maximum_cents)) {
        return new Refusal("ABOVE_MAXIMUM", facts, "", "Above the maximum.");
      }
    }
    const all = total(now) + total(added);
    if (this.totalMaximum && all > this.totalMaximum) {
      const facts = { amount_cents: String(all), maximum_cents: String(this.totalMaximum) };
      return new Refusal("ABOVE_TOTAL", facts, "", "Above the total.");
    }
    const free = this.freeNow();
    const needed = total(added);
    if (free !== null && needed > free) {
      const facts = { free_cents: String(free), needed_cents: String(needed) };
      return new Refusal("INSUFFICIENT_FUNDS", facts, "", "Not enough.");
    }
    return null;
  }

  /** Chips on a place, or for each unit of a call bet. */
  put(place: string, value: Cents): boolean {
    const callBet = this.callBets.get(place);
    return this.add(callBet ? components(callBet, value) : sum([[place, value]]));
  }

  double(): boolean {
    return this.add(this.everything.value);
  }

  repeat(): void {
    const round_id = this.round.value;
    if (!round_id) return;
    this.inTurn(round_id, async (request_id) => {
      const { stake, on_felt } = await this.desk.call("RouletteService.RepeatBets", {
        table_id: this.tableId,
        round_id,
        request_id,
      });
      if (stake?.balance) this.desk.newer(stake.balance);
      this.nothingBefore.value = false;
      this.answered(round_id, laid(on_felt), [...this.steps.value, laid(stake?.bets)]);
    });
  }

  /** The last chip goes back: the last click, wherever it was. */
  undo(): void {
    const queued = this.queue.value;
    if (queued.length) {
      this.queue.value = queued.slice(0, -1);
      return;
    }
    this.back(() => this.steps.value.at(-1));
  }

  /** The last chip of a place goes back. */
  takeOff(place: string): void {
    const queued = this.queue.value;
    const at = queued.findLastIndex((step) => step.has(place));
    if (at >= 0) {
      const rest = minus(queued[at] ?? NOTHING, only(queued[at], place));
      this.queue.value = rest.size ? queued.with(at, rest) : queued.toSpliced(at, 1);
      return;
    }
    this.back(() => {
      const step = this.steps.value.findLast((one) => one.has(place));
      return step && only(step, place);
    });
  }

  clear(): void {
    this.queue.value = [];
    this.back(() => this.felt.value);
  }

  /** Launch the ball, once everything that was put down has been answered. */
  async spin(): Promise<void> {
    const round_id = this.round.value;
    if (!round_id) return;
    await this.inTurn(round_id, async () => {
      const spun = await this.desk.call("RouletteService.Spin", { table_id: this.tableId, round_id });
      if (spun.balance) this.desk.newer(spun.balance);
    });
  }

  // -- within ----------------------------------------------------------------------------------------------------

  private add(bets: Laid): boolean {
    const round_id = this.round.value;
    const refusal = this.against(bets);
    if (refusal || !round_id) {
      if (refusal) this.desk.say(refusal);
      return false;
    }
    this.queue.value = [...this.queue.value, bets];
    this.inTurn(round_id, (request_id) => this.place(round_id, request_id));
    return true;
  }

  /** All that was clicked until now, in one command. */
  private async place(round_id: string, request_id: string): Promise<void> {
    const steps = this.queue.value;
    if (steps.length === 0) return;
    this.flying.value = steps;
    this.queue.value = [];
    this.sentAtVersion = this.desk.free()?.version ?? "";
    try {
      const { stake, on_felt } = await this.desk.call("RouletteService.PlaceBets", {
        table_id: this.tableId,
        round_id,
        request_id,
        bets: sent(sum(steps.flatMap((step) => [...step]))),
      });
      this.flying.value = [];
      if (stake?.balance) this.desk.newer(stake.balance);
      this.answered(round_id, laid(on_felt), [...this.steps.value, ...steps]);
    } finally {
      this.flying.value = [];
    }
  }

  private back(chosen: () => Laid | undefined): void {
    const round_id = this.round.value;
    if (!round_id || this.takeBackForbidden.value) return;
    this.inTurn(round_id, async (request_id) => {
      const bets = chosen();
      if (!bets?.size) return;
      const { on_felt, balance } = await this.desk.call("RouletteService.TakeBackBets", {
        table_id: this.tableId,
        round_id,
        request_id,
        bets: sent(bets),
      });
      if (balance) this.desk.newer(balance);
      this.answered(round_id, laid(on_felt), without(this.steps.value, bets));
    });
  }

  /** One command after the other. */
  private inTurn(round_id: string, command: (request_id: string) => Promise<void>): Promise<void> {
    this.underWay += 1;
    this.line = this.line.then(async () => {
      try {
        if (this.round.value === round_id) await command(this.desk.requestId());
      } catch (error) {
        this.failed(error);
      } finally {
        this.underWay -= 1;
        this.check();
      }
    });
    return this.line;
  }

  private failed(error: unknown): void {
    if (error instanceof Abandoned) return;
    const refusal = error instanceof Refusal ? error : new Refusal("", {}, "", String(error));
    if (refusal.reason === "NOTHING_TO_REPEAT") this.nothingBefore.value = true;
    this.desk.say(refusal);
  }

  private answered(round_id: string, onFelt: Laid, steps: readonly Laid[]): void {
    // Of a round that is over the events have said everything.
    if (this.round.value !== round_id) return;
    this.lies(onFelt, steps);
  }

  private told(seen: Laid): void {
    const wasKnown = same(this.seen, this.felt.value);
    this.seen = seen;
    // While nothing of ours is under way, and nothing was awaited, it was done elsewhere.
    if (this.underWay === 0 && wasKnown) this.lies(seen, this.steps.value);
    else this.check();
  }

  private check(): void {
    this.cancelCheck();
    if (this.underWay > 0 || same(this.seen, this.felt.value)) return;
    this.cancelCheck = this.desk.later(ECHOES_WITHIN_MS, () => {
      if (this.underWay === 0) this.lies(this.seen, this.steps.value);
    });
  }

  private lies(onFelt: Laid, steps: readonly Laid[]): void {
    if (!same(onFelt, this.felt.value)) this.felt.value = onFelt;
    const all = sum(steps.flatMap((step) => [...step]));
    this.steps.value = same(all, onFelt) ? steps : [...onFelt].map((bet) => sum([bet]));
  }

  /** What was clicked and not sent when the round closed lies there no longer. */
  private returnQueued(): void {
    if (this.queue.value.length === 0) return;
    this.queue.value = [];
    this.desk.say(new Refusal("BETTING_CLOSED", {}, "", "Too late."));
  }

  /** What may still be staked. What is under way may have been charged already: then the account is a newer one. */
  private freeNow(): Cents | null {
    const free = this.desk.free();
    if (!free) return null;
    const queued = this.queue.value.reduce((all, step) => all + total(step), 0);
    const flying = this.flying.value.reduce((all, step) => all + total(step), 0);
    return free.cents - queued - (free.version === this.sentAtVersion ? flying : 0);
  }
}

function only(step: Laid | undefined, place: string): Laid {
  const value = step?.get(place);
  return value ? sum([[place, value]]) : NOTHING;
}

/** The placements that are left when bets went back, the newest first. */
function without(steps: readonly Laid[], bets: Laid): readonly Laid[] {
  const last = steps.at(-1);
  if (last && same(last, bets)) return steps.slice(0, -1);
  let gone = bets;
  const left: Laid[] = [];
  for (const step of [...steps].reverse()) {
    const rest = minus(step, gone);
    gone = minus(gone, holds(gone, step) ? step : minus(step, rest));
    if (rest.size) left.unshift(rest);
  }
  return left;
}
