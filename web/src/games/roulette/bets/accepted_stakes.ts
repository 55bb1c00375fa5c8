// The player's stakes that the platform has accepted in a round, by stake id.
//
// A stake is known from the answer to its command, from its event or from a snapshot, whichever comes first; the id says
// that they are the same. A cancelled id stays cancelled. The answer to a take-back names no ids: until the events have
// cancelled its stakes and placed what stays of them, the take-back is subtracted from what lies on the felt.
import { signal } from "@preact/signals";
import { addBets, containsBets, equalBets, NO_BETS, type PlacedBets, subtractBets, sumBets } from "./bets";

/** The id of bets whose stakes are not known one by one. */
const UNIDENTIFIED = "";

export interface StakeOnFelt {
  readonly stake_id: string;
  readonly bets: PlacedBets;
  /** What an undo takes back at a time, oldest first: the clicks that made the stake, or all of it. */
  readonly steps: readonly PlacedBets[];
}

/** A stake that was not made by clicks on this page. An empty id stands for all bets of the player, each an undo of its own. */
export function wholeStake(stake_id: string, bets: PlacedBets): StakeOnFelt {
  return { stake_id, bets, steps: stake_id === UNIDENTIFIED ? [...bets].map((bet) => sumBets([bet])) : [bets] };
}

/** Bets that a command takes back, until the events have said everything about it. */
export interface TakeBack {
  readonly bets: PlacedBets;
  answered: boolean;
  /** The bets of the stakes that events have cancelled since the command was sent. */
  cancelled: PlacedBets;
  /** The ids of those stakes; they remain on the felt until the take-back is settled. */
  readonly heldIds: Set<string>;
}

export class AcceptedStakes {
  /** All bets that the player has on the felt. */
  readonly bets = signal<PlacedBets>(NO_BETS);

  private stakes: readonly StakeOnFelt[] = [];
  private cancelledIds = new Set<string>();
  /** The take-backs that were sent and are not settled, in their order, which is that of their events too. */
  private takeBacks: readonly TakeBack[] = [];
  /** What the last answer said lies on the felt; null as long as no take-back was answered that is not settled. */
  private answeredBets: PlacedBets | null = null;

  /** Whether the stake has been accepted, as far as the page knows; it may have been cancelled since. */
  knows(stake_id: string): boolean {
    return this.cancelledIds.has(stake_id) || this.stakes.some((stake) => stake.stake_id === stake_id);
  }

  /** What can be undone, oldest first, once every take-back has been answered. */
  steps(): readonly PlacedBets[] {
    let steps: readonly PlacedBets[] = this.stakes.flatMap((stake) => stake.steps);
    for (const { bets } of this.takeBacks) steps = withoutBets(steps, bets);
    return steps;
  }

  // -- the round ---------------------------------------------------------------------------------------------------

  /** Forgets the round: another one begins, or every bet was returned. */
  clear(): void {
    this.cancelledIds = new Set();
    this.restore([]);
  }

  /** Takes the stakes of a snapshot as the whole; those known before keep their steps. */
  restore(stakes: readonly StakeOnFelt[]): void {
    const known = new Map(identifiedOf(this.stakes).map((stake) => [stake.stake_id, stake]));
    this.takeBacks = [];
    this.answeredBets = null;
    this.stakes = stakes
      .filter(({ stake_id }) => !this.cancelledIds.has(stake_id))
      .map((stake) => known.get(stake.stake_id) ?? stake);
    this.show();
  }

  /** Shows what the events say, whatever is still to be answered. */
  settleAll(): void {
    for (const takeBack of this.takeBacks) this.settle(takeBack);
    this.show();
  }

  // -- events ------------------------------------------------------------------------------------------------------

  placed(stake: StakeOnFelt): void {
    if (stake.stake_id === UNIDENTIFIED) this.takeWhole(stake.bets);
    else if (!this.knows(stake.stake_id)) {
      const [first] = this.takeBacks;
      if (first && isCovered(first)) this.settle(first, stake);
      else this.stakes = [...this.stakes, stake];
    }
    this.show();
  }

  cancelled(stake_id: string, bets: PlacedBets): void {
    if (this.cancelledIds.has(stake_id)) return;
    if (!this.knows(stake_id)) this.identify(wholeStake(stake_id, bets));
    this.cancelledIds.add(stake_id);
    const [takeBack] = this.takeBacks;
    if (!takeBack) this.stakes = this.stakes.filter((stake) => stake.stake_id !== stake_id);
    else {
      takeBack.heldIds.add(stake_id);
      takeBack.cancelled = addBets(takeBack.cancelled, bets);
      if (equalBets(takeBack.cancelled, takeBack.bets)) this.settle(takeBack);
    }
    this.show();
  }

  // -- answers -----------------------------------------------------------------------------------------------------

  placementAnswered(stake: StakeOnFelt, onFelt: PlacedBets): void {
    this.answeredBets = onFelt;
    // A stake that does not lie on the felt any more was cancelled meanwhile, in an event that was lost.
    if (!this.knows(stake.stake_id) && containsBets(onFelt, stake.bets)) {
      const identified = [...identifiedOf(this.stakes), stake];
      // Bets without an id may include this stake: the answer says what lies there beside it.
      const hasOthers = identified.length <= this.stakes.length;
      this.stakes = withUnidentified(identified, hasOthers ? subtractBets(onFelt, sumOf(identified)) : NO_BETS);
    }
    this.show();
  }

  /** The command is about to be sent. */
  takeBackSent(bets: PlacedBets): TakeBack {
    const takeBack = { bets, answered: false, cancelled: NO_BETS, heldIds: new Set<string>() };
    this.takeBacks = [...this.takeBacks, takeBack];
    return takeBack;
  }

  takeBackAnswered(takeBack: TakeBack, onFelt: PlacedBets): void {
    this.answeredBets = onFelt;
    takeBack.answered = true;
    this.show();
  }

  takeBackFailed(takeBack: TakeBack): void {
    this.settle(takeBack);
    this.show();
  }

  // -- internals ---------------------------------------------------------------------------------------------------

  /** Takes bets as all bets of the player. */
  private takeWhole(bets: PlacedBets): void {
    if (equalBets(bets, sumOf(this.stakes.filter(({ stake_id }) => !this.cancelledIds.has(stake_id))))) return;
    this.takeBacks = [];
    this.stakes = withUnidentified([], bets);
  }

  /** Finds a stake among the bets without an id. */
  private identify(stake: StakeOnFelt): void {
    const unidentified = this.stakes.find(({ stake_id }) => stake_id === UNIDENTIFIED);
    if (!unidentified || !containsBets(unidentified.bets, stake.bets)) return;
    this.stakes = [...withUnidentified(this.stakes, subtractBets(unidentified.bets, stake.bets)), stake];
  }

  /** Removes the stakes that a take-back has cancelled; `rest`, if there is one, takes their position and their steps. */
  private settle(takeBack: TakeBack, rest?: StakeOnFelt): void {
    this.takeBacks = this.takeBacks.filter((other) => other !== takeBack);
    const isHeld = ({ stake_id }: StakeOnFelt) => takeBack.heldIds.has(stake_id);
    const held = this.stakes.filter(isHeld);
    const last = held.at(-1);
    if (rest) {
      const steps = withoutBets(
        held.flatMap((stake) => stake.steps),
        takeBack.bets,
      );
      const left = sumBets(steps.flatMap((step) => [...step]));
      const replacement = equalBets(left, rest.bets) ? { ...rest, steps } : rest;
      this.stakes = this.stakes.toSpliced(last ? this.stakes.indexOf(last) + 1 : this.stakes.length, 0, replacement);
    }
    this.stakes = this.stakes.filter((stake) => !isHeld(stake));
  }

  private total(): PlacedBets {
    const answered = this.takeBacks.filter((takeBack) => takeBack.answered);
    return answered.reduce((left, { bets }) => subtractBets(left, bets), sumOf(this.stakes));
  }

  private show(): void {
    const [first] = this.takeBacks;
    if (!first) this.answeredBets = null;
    // More was cancelled than is placed again: the rest was refused, or another page took back something as well.
    else if (this.answeredBets && isCovered(first) && !equalBets(this.total(), this.answeredBets)) {
      this.settle(first);
    }
    const total = this.total();
    if (!equalBets(total, this.bets.value)) this.bets.value = total;
  }
}

/** Whether events have cancelled all that is taken back; what they have cancelled beyond it is placed again. */
function isCovered({ bets, cancelled }: TakeBack): boolean {
  return containsBets(cancelled, bets);
}

function identifiedOf(stakes: readonly StakeOnFelt[]): readonly StakeOnFelt[] {
  return stakes.filter(({ stake_id }) => stake_id !== UNIDENTIFIED);
}

function withUnidentified(stakes: readonly StakeOnFelt[], bets: PlacedBets): readonly StakeOnFelt[] {
  const identified = identifiedOf(stakes);
  return bets.size ? [wholeStake(UNIDENTIFIED, bets), ...identified] : identified;
}

function sumOf(stakes: readonly StakeOnFelt[]): PlacedBets {
  return sumBets(stakes.flatMap(({ bets }) => [...bets]));
}

/** The steps that remain when bets are taken back, the newest first. */
function withoutBets(steps: readonly PlacedBets[], bets: PlacedBets): readonly PlacedBets[] {
  const last = steps.at(-1);
  if (last && equalBets(last, bets)) return steps.slice(0, -1);
  let gone = bets;
  const left: PlacedBets[] = [];
  for (const step of [...steps].reverse()) {
    const rest = subtractBets(step, gone);
    gone = subtractBets(gone, containsBets(gone, step) ? step : subtractBets(step, rest));
    if (rest.size) left.unshift(rest);
  }
  return left;
}
