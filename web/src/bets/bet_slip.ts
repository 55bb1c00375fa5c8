// The player's own bets in a round: placing, what the platform has accepted, taking back.
//
// A click shows at once as pending. One command is under way at a time; clicks meanwhile go with the next one. The platform
// says what is accepted: its answers, and the events of the player's seat, which include bets placed from another page of
// the same player.
import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Balance } from "../api/messages";
import { CallAbandoned, Refusal } from "../api/refusal";
import type { Cents } from "../words/money";
import { AcceptedStakes, type StakeOnFelt, wholeStake } from "./accepted_stakes";
import {
  addBets,
  type BetsMessage,
  betsFromMessage,
  betsMessage,
  equalBets,
  NO_BETS,
  type PlacedBets,
  subtractBets,
  sumBets,
  totalOf,
} from "./bets";

/** One command of the player's in a round. */
export interface RoundCommand {
  round_id: string;
  request_id: string;
}

export interface BetsCommand extends RoundCommand {
  bets: { place: string; amount_cents: string }[];
}

/** A stake that counts, and what the player has on the felt with it. */
export interface PlacementAnswer {
  stake?: { stake_id: string; balance?: Balance; bets?: BetsMessage };
  on_felt?: BetsMessage;
}

/** What is left after bets were taken back. */
export interface TakeBackAnswer {
  on_felt?: BetsMessage;
  balance?: Balance;
  cancelled_stake_ids: readonly string[];
  reduced_stakes: readonly { stake_id: string; bets?: BetsMessage }[];
}

/** A game's own methods, which the slip calls, and its limits. */
export interface BettingRules {
  place(command: BetsCommand): Promise<PlacementAnswer>;
  /** Absent where bets cannot be repeated by one command. */
  repeat?(command: RoundCommand): Promise<PlacementAnswer>;
  takeBack(command: BetsCommand): Promise<TakeBackAnswer>;
  /** Starts the round at an individual table. */
  start(round_id: string): Promise<{ balance?: Balance }>;
  /** Why the game refuses these bets beside those on the felt, as far as the page knows. */
  refusalFor(added: PlacedBets, onFelt: PlacedBets): Refusal | null;
  /** A command places bets on one place only. */
  onePlaceEach?: boolean;
}

/** What the slip needs of the page around it. */
export interface BetSlipPorts {
  requestId(): string;
  updateBalance(balance: Balance): void;
  /** The free balance and the version of the account that says so; null while it is not known. */
  freeBalance(): { cents: Cents; version: string } | null;
  /** Tells the player that something was refused. */
  refused(refusal: Refusal): void;
}

/** Why an action is not possible now; null if it is. */
export type Blocked = "closed" | "nothing" | "forbidden" | "limit" | "funds" | "no_earlier_bets" | null;

/** A stake as the platform names it; an empty id stands for all bets of the player. */
export interface IdentifiedBets {
  stake_id: string;
  bets: PlacedBets;
}

export class BetSlip {
  /** Bets that the platform has accepted. */
  readonly accepted: ReadonlySignal<PlacedBets>;
  /** The round that takes bets. */
  readonly round = signal<string | null>(null);
  readonly pending: ReadonlySignal<PlacedBets>;
  readonly allBets: ReadonlySignal<PlacedBets>;
  readonly undoBlocked: ReadonlySignal<Blocked>;
  readonly repeatBlocked: ReadonlySignal<Blocked>;
  readonly doubleBlocked: ReadonlySignal<Blocked>;

  private readonly queued = signal<readonly PlacedBets[]>([]);
  private readonly inFlight = signal<readonly PlacedBets[]>([]);
  /** The events have shown the placement in flight as accepted before its answer. */
  private readonly inFlightSeen = signal(false);
  private readonly stakes = new AcceptedStakes();
  private readonly takeBackForbidden = signal(false);
  /** The player has no earlier round here whose bets could be repeated. */
  private readonly nothingToRepeat = signal(false);
  private hasPlayed = false;

  private sentAtVersion = "";
  private commandChain: Promise<void> = Promise.resolve();

  constructor(
    private readonly rules: BettingRules,
    private readonly ports: BetSlipPorts,
  ) {
    this.accepted = this.stakes.bets;
    this.pending = computed(() => {
      const inFlight = this.inFlightSeen.value ? [] : this.inFlight.value;
      return sumSteps([...inFlight, ...this.queued.value]);
    });
    this.allBets = computed(() => addBets(this.accepted.value, this.pending.value));
    this.undoBlocked = computed(() => {
      if (!this.round.value) return "closed";
      if (this.allBets.value.size === 0) return "nothing";
      return this.takeBackForbidden.value ? "forbidden" : null;
    });
    this.repeatBlocked = computed(() => {
      if (!this.round.value) return "closed";
      return this.nothingToRepeat.value || !this.rules.repeat ? "no_earlier_bets" : null;
    });
    this.doubleBlocked = computed(() => {
      if (!this.round.value) return "closed";
      if (this.allBets.value.size === 0) return "nothing";
      const refusal = this.refusalFor(this.allBets.value);
      if (!refusal) return null;
      return refusal.reason === "INSUFFICIENT_FUNDS" ? "funds" : "limit";
    });
  }

  /** Whether one command places the bets of the last round again. */
  get repeats(): boolean {
    return this.rules.repeat !== undefined;
  }

  // -- what the table says ---------------------------------------------------------------------------------------

  /** Starts from a snapshot. `stakes` are all that the player has on the felt, oldest first. */
  restore(round: string | null, stakes: readonly IdentifiedBets[], takeBackForbidden: boolean): void {
    // A round never shows the chips of the one before.
    batch(() => {
      if (round !== this.round.value) {
        this.dropQueued();
        this.stakes.clear();
      }
      this.takeBackForbidden.value = takeBackForbidden;
      this.round.value = round;
      this.stakes.restore(stakes.map((stake) => this.stakeOnFelt(stake)));
    });
  }

  roundOpened(round: string, takeBackForbidden: boolean): void {
    this.restore(round, [], takeBackForbidden);
  }

  /** Betting has closed; the events of all accepted bets have arrived before. */
  bettingClosed(): void {
    this.round.value = null;
    if (this.accepted.value.size > 0) {
      this.hasPlayed = true;
      this.nothingToRepeat.value = false;
    }
    this.dropQueued();
  }

  /** The round is void: every bet was returned. */
  roundVoided(): void {
    this.stakes.clear();
  }

  /** The player has never taken part in a round here; a round played meanwhile counts. */
  noEarlierRounds(): void {
    this.nothingToRepeat.value = !this.hasPlayed;
  }

  /** With an empty id the bets are all that the player has on the felt. */
  betsPlaced(stake_id: string, bets: PlacedBets): void {
    batch(() => this.stakes.placed(this.stakeOnFelt({ stake_id, bets })));
  }

  /** `bets` were taken back of a stake, and `remaining` stay; none if all of it was taken back. */
  betsTakenBack(stake_id: string, bets: PlacedBets, remaining: PlacedBets = NO_BETS): void {
    this.stakes.takenBack(bets, { stake_id, bets: remaining });
  }

  // -- what the player does --------------------------------------------------------------------------------------

  /** Why these bets would be refused, as far as the page knows. */
  refusalFor(added: PlacedBets): Refusal | null {
    const round_id = this.round.value;
    if (!round_id) return new Refusal("BETTING_CLOSED", {}, "", "No round takes bets.");
    const refusal = this.rules.refusalFor(added, this.allBets.value);
    if (refusal) return refusal;
    const free = this.freeCents();
    const needed = totalOf(added);
    if (free !== null && needed > free) {
      const facts = { free_cents: String(free), needed_cents: String(needed) };
      return new Refusal("INSUFFICIENT_FUNDS", facts, "", "Not enough.");
    }
    return null;
  }

  placeChip(place: string, value: Cents): boolean {
    return this.place(sumBets([[place, value]]));
  }

  /** Places bets as one click, which an undo takes back as one. */
  place(bets: PlacedBets): boolean {
    const round_id = this.round.value;
    const refusal = this.refusalFor(bets);
    if (refusal || !round_id) {
      if (refusal) this.ports.refused(refusal);
      return false;
    }
    this.queued.value = [...this.queued.value, bets];
    this.enqueue(round_id, (request_id) => this.sendQueued(round_id, request_id));
    return true;
  }

  double(): boolean {
    return this.place(this.allBets.value);
  }

  repeat(): void {
    const round_id = this.round.value;
    const repeat = this.rules.repeat;
    if (!round_id || !repeat) return;
    this.enqueue(round_id, async (request_id) => {
      const { stake, on_felt } = await repeat({ round_id, request_id });
      if (stake?.balance) this.ports.updateBalance(stake.balance);
      this.nothingToRepeat.value = false;
      // The events have settled a round that is over.
      if (!stake || this.round.value !== round_id) return;
      this.stakes.placementAnswered(wholeStake(stake.stake_id, betsFromMessage(stake.bets)), betsFromMessage(on_felt));
    });
  }

  /** Takes back the last click, wherever it was. */
  undo(): void {
    const queued = this.queued.value;
    if (queued.length) {
      this.queued.value = queued.slice(0, -1);
      return;
    }
    this.takeBack(() => this.stakes.steps().at(-1));
  }

  /** Takes back the last chip of a place. */
  takeBackFrom(place: string): void {
    const queued = this.queued.value;
    const at = queued.findLastIndex((step) => step.has(place));
    if (at >= 0) {
      const rest = subtractBets(queued[at] ?? NO_BETS, betsOn(queued[at], place));
      this.queued.value = rest.size ? queued.with(at, rest) : queued.toSpliced(at, 1);
      return;
    }
    this.takeBack(() => {
      const step = this.stakes.steps().findLast((one) => one.has(place));
      return step && betsOn(step, place);
    });
  }

  clear(): void {
    this.queued.value = [];
    this.takeBack(() => this.accepted.value);
  }

  /** Starts the round once all placements have been answered. */
  async start(): Promise<void> {
    const round_id = this.round.value;
    if (!round_id) return;
    await this.enqueue(round_id, async () => {
      const started = await this.rules.start(round_id);
      if (started.balance) this.ports.updateBalance(started.balance);
    });
  }

  // -- internals -------------------------------------------------------------------------------------------------

  /** Sends all queued clicks in one command, or those of one place where a command takes no more. */
  private async sendQueued(round_id: string, request_id: string): Promise<void> {
    const queued = this.queued.value;
    if (queued.length === 0) return;
    const steps = this.rules.onePlaceEach ? onOnePlace(queued) : queued;
    const bets = sumSteps(steps);
    batch(() => {
      this.inFlight.value = steps;
      this.queued.value = this.rules.onePlaceEach ? withoutPlaces(queued, bets) : [];
    });
    if (this.queued.value.length) this.enqueue(round_id, (next) => this.sendQueued(round_id, next));
    this.sentAtVersion = this.ports.freeBalance()?.version ?? "";
    const landed = () => {
      this.inFlight.value = [];
      this.inFlightSeen.value = false;
    };
    try {
      const { stake, on_felt } = await this.rules.place({ round_id, request_id, bets: betsMessage(bets) });
      batch(() => {
        landed();
        if (stake?.balance) this.ports.updateBalance(stake.balance);
        // The events have settled a round that is over.
        if (!stake || this.round.value !== round_id) return;
        this.stakes.placementAnswered({ stake_id: stake.stake_id, bets, steps }, betsFromMessage(on_felt));
      });
    } finally {
      batch(landed);
    }
  }

  private takeBack(chosen: () => PlacedBets | undefined): void {
    const round_id = this.round.value;
    if (!round_id || this.takeBackForbidden.value) return;
    this.enqueue(round_id, async (request_id) => {
      const bets = chosen();
      if (!bets?.size) return;
      const command = { round_id, request_id, bets: betsMessage(bets) };
      const { on_felt, balance, cancelled_stake_ids, reduced_stakes } = await this.rules.takeBack(command);
      if (balance) this.ports.updateBalance(balance);
      // The events have settled a round that is over.
      if (this.round.value !== round_id) return;
      const remaining = [
        ...cancelled_stake_ids.map((stake_id) => ({ stake_id, bets: NO_BETS })),
        ...reduced_stakes.map((stake) => ({ stake_id: stake.stake_id, bets: betsFromMessage(stake.bets) })),
      ];
      this.stakes.takeBackAnswered(remaining, betsFromMessage(on_felt));
    });
  }

  /** Runs one command after the other. */
  private enqueue(round_id: string, command: (request_id: string) => Promise<void>): Promise<void> {
    this.commandChain = this.commandChain.then(async () => {
      try {
        if (this.round.value === round_id) await command(this.ports.requestId());
      } catch (error) {
        this.failed(error);
      }
    });
    return this.commandChain;
  }

  private failed(error: unknown): void {
    if (error instanceof CallAbandoned) return;
    const refusal = error instanceof Refusal ? error : new Refusal("", {}, "", String(error));
    if (refusal.reason === "NOTHING_TO_REPEAT") this.nothingToRepeat.value = true;
    this.ports.refused(refusal);
  }

  /** An unknown stake that equals the placement in flight is taken to be it, so that its chips are not shown twice. */
  private stakeOnFelt({ stake_id, bets }: IdentifiedBets): StakeOnFelt {
    const steps = this.inFlight.value;
    const isNew = stake_id !== "" && !this.stakes.knows(stake_id);
    if (!isNew || !equalBets(bets, sumSteps(steps))) return wholeStake(stake_id, bets);
    this.inFlightSeen.value = true;
    return { stake_id, bets, steps };
  }

  /** Drops clicks that were not sent before betting closed. */
  private dropQueued(): void {
    if (this.queued.value.length === 0) return;
    this.queued.value = [];
    this.ports.refused(new Refusal("BETTING_CLOSED", {}, "", "Too late."));
  }

  /** What may still be staked. Bets in flight may have been charged already: then the account has a newer version. */
  private freeCents(): Cents | null {
    const free = this.ports.freeBalance();
    if (!free) return null;
    const queued = this.queued.value.reduce((all, step) => all + totalOf(step), 0);
    const flying = this.inFlight.value.reduce((all, step) => all + totalOf(step), 0);
    return free.cents - queued - (free.version === this.sentAtVersion ? flying : 0);
  }
}

function betsOn(step: PlacedBets | undefined, place: string): PlacedBets {
  const value = step?.get(place);
  return value ? sumBets([[place, value]]) : NO_BETS;
}

function sumSteps(steps: readonly PlacedBets[]): PlacedBets {
  return sumBets(steps.flatMap((step) => [...step]));
}

/** Of each click the part on the place that was clicked first. */
function onOnePlace(steps: readonly PlacedBets[]): readonly PlacedBets[] {
  const place = steps[0]?.keys().next().value ?? "";
  return steps.map((step) => betsOn(step, place)).filter((step) => step.size > 0);
}

/** What is left of the clicks without the places of these bets. */
function withoutPlaces(steps: readonly PlacedBets[], bets: PlacedBets): readonly PlacedBets[] {
  return steps.map((step) => sumBets([...step].filter(([place]) => !bets.has(place)))).filter((step) => step.size > 0);
}
