// The player's stakes that the platform has accepted in a round, by stake id.
//
// A stake is known from the answer to its command, from its event or from a snapshot, whichever comes first; the id says
// that they are the same. Bets only ever leave a stake: whatever says what stays of it, in whichever order it arrives, never
// adds to it, and a cancelled id stays cancelled.
import { signal } from "@preact/signals";
import { commonBets, containsBets, equalBets, NO_BETS, type PlacedBets, subtractBets, sumBets } from "./bets";

/** The id of bets whose stakes are not known one by one. */
const UNIDENTIFIED = "";

export interface StakeOnFelt {
  readonly stake_id: string;
  readonly bets: PlacedBets;
  /** What an undo takes back at a time, oldest first: the clicks that made the stake, or all of it. */
  readonly steps: readonly PlacedBets[];
}

/** What stays of a stake; nothing if all of it was taken back. */
export interface RemainingBets {
  readonly stake_id: string;
  readonly bets: PlacedBets;
}

/** A stake that was not made by clicks on this page. An empty id stands for all bets of the player, each an undo of its own. */
export function wholeStake(stake_id: string, bets: PlacedBets): StakeOnFelt {
  return { stake_id, bets, steps: stake_id === UNIDENTIFIED ? [...bets].map((bet) => sumBets([bet])) : [bets] };
}

export class AcceptedStakes {
  /** All bets that the player has on the felt. */
  readonly bets = signal<PlacedBets>(NO_BETS);

  private stakes: readonly StakeOnFelt[] = [];
  private cancelledIds = new Set<string>();

  /** Whether the stake has been accepted, as far as the page knows; it may have been cancelled since. */
  knows(stake_id: string): boolean {
    return this.cancelledIds.has(stake_id) || this.stakes.some((stake) => stake.stake_id === stake_id);
  }

  /** What can be undone, oldest first. */
  steps(): readonly PlacedBets[] {
    return this.stakes.flatMap((stake) => stake.steps);
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
    this.stakes = stakes
      .filter(({ stake_id }) => !this.cancelledIds.has(stake_id))
      .map((stake) => reduced(known.get(stake.stake_id) ?? stake, stake.bets));
    this.show();
  }

  // -- events ------------------------------------------------------------------------------------------------------

  placed(stake: StakeOnFelt): void {
    if (stake.stake_id === UNIDENTIFIED) this.takeWhole(stake.bets);
    else if (!this.knows(stake.stake_id)) this.stakes = [...this.stakes, stake];
    this.show();
  }

  /** `bets` were taken back of a stake. */
  takenBack(bets: PlacedBets, remaining: RemainingBets): void {
    if (!this.knows(remaining.stake_id)) this.identify(sumOf([{ bets }, remaining]));
    this.keepOnly(remaining);
    this.show();
  }

  // -- answers -----------------------------------------------------------------------------------------------------

  /** `onFelt` is what lay there right after the placement. */
  placementAnswered(stake: StakeOnFelt, onFelt: PlacedBets): void {
    if (!this.knows(stake.stake_id)) {
      const identified = [...identifiedOf(this.stakes), stake];
      // Bets without an id may include this stake: the answer says what lies there beside it.
      const hasOthers = identified.length <= this.stakes.length;
      this.stakes = withUnidentified(identified, hasOthers ? subtractBets(onFelt, sumOf(identified)) : NO_BETS);
    }
    this.show();
  }

  /** `onFelt` is what lay there right after the take-back. */
  takeBackAnswered(remaining: readonly RemainingBets[], onFelt: PlacedBets): void {
    const unidentified = unidentifiedOf(this.stakes);
    for (const each of remaining) this.keepOnly(each);
    if (unidentified) {
      const others = subtractBets(onFelt, sumOf(identifiedOf(this.stakes)));
      this.stakes = withUnidentified(this.stakes, commonBets(unidentified.bets, others));
    }
    this.show();
  }

  // -- internals ---------------------------------------------------------------------------------------------------

  /** Takes bets as all bets of the player. */
  private takeWhole(bets: PlacedBets): void {
    if (!equalBets(bets, sumOf(this.stakes))) this.stakes = withUnidentified([], bets);
  }

  /** Takes a stake with these bets out of the bets without an id, if they can hold it. */
  private identify(bets: PlacedBets): void {
    const unidentified = unidentifiedOf(this.stakes);
    if (!unidentified || !containsBets(unidentified.bets, bets)) return;
    this.stakes = withUnidentified(this.stakes, subtractBets(unidentified.bets, bets));
  }

  private keepOnly({ stake_id, bets }: RemainingBets): void {
    if (this.cancelledIds.has(stake_id)) return;
    if (bets.size === 0) {
      this.cancelledIds.add(stake_id);
      this.stakes = this.stakes.filter((stake) => stake.stake_id !== stake_id);
    } else if (this.knows(stake_id)) {
      this.stakes = this.stakes.map((stake) => (stake.stake_id === stake_id ? reduced(stake, bets) : stake));
    } else this.stakes = [...this.stakes, wholeStake(stake_id, bets)];
  }

  private show(): void {
    const total = sumOf(this.stakes);
    if (!equalBets(total, this.bets.value)) this.bets.value = total;
  }
}

/** The stake with no more than these bets; the newest of its steps go first. */
function reduced(stake: StakeOnFelt, bets: PlacedBets): StakeOnFelt {
  const rest = commonBets(stake.bets, bets);
  if (equalBets(rest, stake.bets)) return stake;
  return { ...stake, bets: rest, steps: withoutBets(stake.steps, subtractBets(stake.bets, rest)) };
}

function identifiedOf(stakes: readonly StakeOnFelt[]): readonly StakeOnFelt[] {
  return stakes.filter(({ stake_id }) => stake_id !== UNIDENTIFIED);
}

function unidentifiedOf(stakes: readonly StakeOnFelt[]): StakeOnFelt | undefined {
  return stakes.find(({ stake_id }) => stake_id === UNIDENTIFIED);
}

function withUnidentified(stakes: readonly StakeOnFelt[], bets: PlacedBets): readonly StakeOnFelt[] {
  const identified = identifiedOf(stakes);
  return bets.size ? [wholeStake(UNIDENTIFIED, bets), ...identified] : identified;
}

function sumOf(stakes: readonly { readonly bets: PlacedBets }[]): PlacedBets {
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
