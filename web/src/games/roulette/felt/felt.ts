// The state of one felt: joins the table's events, the bet slip and the outcome sequence for the components.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { OwnSeat, TableEvent, TableSnapshot } from "../../../api/messages";
import { call } from "../../../api/platform";
import type { Refusal } from "../../../api/refusal";
import { serverNow } from "../../../api/server_clock";
import type { IdentifiedBets } from "../../../bets/bet_slip";
import { betsFromMessage, equalBets, NO_BETS, type PlacedBets, sumBets } from "../../../bets/bets";
import { ownStakes, roundTakingBets, takeBackForbidden } from "../../../bets/table_bets";
import { after } from "../../../browser/after";
import { chipPlacedSound, chipsCollectedSound } from "../../../chips/chip_sounds";
import { chipSet } from "../../../chips/chips";
import { readOwnResult } from "../../../results/round_record";
import type { LiveTable } from "../../../table/live/live_table";
import { resultPending } from "../../../table/live/result_pending";
import { announceOwnBets } from "../../../tray/bet_announcer";
import { BettingControls } from "../../../tray/betting_controls";
import { noMoreBetsSound, prizeSound } from "../../../tray/call_sounds";
import { soundLastSeconds } from "../../../tray/last_seconds";
import { slipPorts } from "../../../tray/slip_ports";
import { trayWords } from "../../../tray/words";
import { type Cents, cents } from "../../../words/money";
import { OtherPlayersBets } from "../bets/other_players_bets";
import { callBetComponents, RouletteSlip } from "../bets/roulette_slip";
import type { CallBet, Layout, Place } from "../layout/messages";
import { placeName } from "../words/place_names";
import { rouletteRefusals } from "../words/refusals";
import { OutcomeSequence } from "./outcome_sequence";
import type { RoundResult } from "./results";

// Other players' chips need not appear one by one: a table of 200 is redrawn a few times a second.
const OTHERS_EVERY_MS = 150;

export class Felt extends BettingControls {
  readonly slip: RouletteSlip;
  readonly otherBets = new OtherPlayersBets((then) => setTimeout(() => requestAnimationFrame(then), OTHERS_EVERY_MS));
  readonly sequence: OutcomeSequence;
  readonly places: ReadonlyMap<string, Place>;
  readonly callBets: ReadonlyMap<string, CallBet>;
  /** The place or call bet that is pointed at or focused. */
  readonly pointedPlace = signal<string | null>(null);
  /** The board's tab stop. */
  readonly tabStop = signal<string | null>(null);
  /** What the next click would place. */
  readonly aimedBets: ReadonlySignal<PlacedBets>;
  readonly litPlaces: ReadonlySignal<ReadonlySet<string>>;
  readonly litNumbers: ReadonlySignal<ReadonlySet<string>>;
  /** The announcement of accepted bets for screen readers. */
  readonly announcement = signal("");
  /** The player's chips to show: those of the round whose result is being shown, or of the open round. */
  readonly shownBets: ReadonlySignal<PlacedBets>;
  /** The player's chips that count: after the payout those of the next round. */
  readonly countedBets: ReadonlySignal<PlacedBets>;
  readonly bettable: ReadonlySignal<boolean>;

  /** Betting has closed, and the outcome is not known yet. */
  private readonly closed = signal(false);

  constructor(
    readonly table: LiveTable,
    readonly layout: Layout,
  ) {
    const minimum = Math.min(...layout.places.map((place) => cents(place.minimum_cents)));
    const highest = Math.max(...layout.places.map((place) => cents(place.maximum_cents)));
    super(chipSet(minimum, highest));
    this.places = new Map(layout.places.map((place) => [place.place, place]));
    this.callBets = new Map(layout.call_bets.map((bet) => [bet.place, bet]));
    const refused = (refusal: Refusal) => this.notice.refused(refusal, table.mode.value, rouletteRefusals());
    this.slip = new RouletteSlip(table.tableId.value, layout, { call, ...slipPorts(table, refused) });
    this.sequence = new OutcomeSequence(layout, {
      now: () => performance.now(),
      serverNow,
      after,
      reducedMotion: () => matchMedia("(prefers-reduced-motion: reduce)").matches,
    });
    this.shownBets = computed(() =>
      this.sequence.result.value ? this.sequence.result.value.bets : this.slip.accepted.value,
    );
    this.countedBets = computed(() => {
      const result = this.sequence.result.value;
      if (result && this.sequence.stage.value !== "paid") return result.bets;
      return result && !this.slip.round.value ? NO_BETS : this.slip.accepted.value;
    });
    this.bettable = computed(() => {
      const stage = this.sequence.stage.value;
      const betweenResults = stage === "quiet" || (stage === "paid" && table.individual.value);
      return betweenResults && this.slip.round.value !== null && table.state.value === "playing";
    });
    this.aimedBets = computed(() => {
      const name = this.pointedPlace.value;
      // While a result is being shown nothing else is lit.
      if (!name || !this.bettable.value) return NO_BETS;
      const { value } = this.chosenChip.value;
      const callBet = this.callBets.get(name);
      return callBet ? callBetComponents(callBet, value) : sumBets([[name, value]]);
    });
    this.litPlaces = computed(() => new Set(this.aimedBets.value.keys()));
    this.litNumbers = computed(() => {
      const numbers = [...this.litPlaces.value].flatMap((name) => this.places.get(name)?.numbers ?? []);
      return new Set(numbers);
    });
  }

  /** Follows the table until the returned function is called. */
  follow(): () => void {
    const snapshot = this.table.snapshot.value;
    const seat = this.table.ownSeat.value;
    if (snapshot) this.takeSnapshot(snapshot, seat, stakesInRound(snapshot, seat));
    const ends = [
      this.table.onSnapshot((table, own) => this.takeSnapshot(table, own)),
      this.table.onEvent((event, table) => this.takeEvent(event, table)),
      this.readMissedBets(),
      soundLastSeconds(this.table),
      effect(() => {
        const stage = this.sequence.stage.value;
        const staked = (this.sequence.result.peek()?.staked_cents ?? 0) > 0;
        if (stage === "collected" && staked) chipsCollectedSound();
        if (stage === "paid" && (this.sequence.result.peek()?.payout_cents ?? 0) > 0) prizeSound();
      }),
      effect(() => {
        const stage = this.sequence.stage.value;
        resultPending.value = stage === "quiet" ? this.closed.value : stage !== "paid";
      }),
      announceOwnBets(this.slip, this.table.mode, this.announcement, placeName),
    ];
    return () => {
      for (const end of ends) end();
      this.sequence.stop();
      this.notice.close();
      resultPending.value = true;
    };
  }

  /** Places the chosen chip, or one for each unit of a call bet. */
  placeChip(place: string): void {
    if (!this.continueBetting()) this.showNotice(trayWords().blocked.closed);
    else if (this.slip.placeChip(place, this.chosenChip.value.value)) chipPlacedSound();
  }

  /** The amount that the next click on a place stakes. */
  cost(place: string): Cents {
    const units = this.callBets.get(place)?.units ?? 1;
    return units * this.chosenChip.value.value;
  }

  /** What the bets of a round won beyond their stakes. */
  prizeOf({ bets, number }: RoundResult): Cents {
    let prize = 0;
    for (const [place, value] of bets) {
      if (this.sequence.covers(place, number)) prize += (value * (this.places.get(place)?.prize_halves ?? 0)) / 2;
    }
    return prize;
  }

  protected override endShowing(): void {
    this.sequence.dismiss();
  }

  /** Reads the bets that were placed between the table's snapshot and the first event received here. */
  private readMissedBets(): () => void {
    const received: TableEvent[] = [];
    const ends = [
      this.table.onEvent((event) => received.push(event)),
      this.table.onSnapshot(() => {
        current = false;
      }),
    ];
    let current = true;
    const end = () => {
      current = false;
      for (const each of ends) each();
    };
    call("TableService.GetTable", { table_id: this.table.tableId.value })
      .then(({ table }) => {
        if (!current || !table) return;
        const seat = this.table.ownSeat.value?.seat;
        this.otherBets.reset(table.bets, seat);
        for (const event of received) if (Number(event.seq) > Number(table.seq)) this.trackOtherBets(event);
      })
      .catch(() => undefined)
      .finally(end);
    return end;
  }

  private trackOtherBets({ bets_placed, bets_cancelled, round_opened }: TableEvent): void {
    const seat = this.table.ownSeat.value?.seat;
    if (bets_placed && bets_placed.seat !== seat) {
      // Without a stake id the event holds all bets of the seat.
      if (!bets_placed.stake_id) this.otherBets.clearSeat(bets_placed.seat);
      this.otherBets.placed(bets_placed.seat, betsFromMessage(bets_placed.bets));
    } else if (bets_cancelled && bets_cancelled.seat !== seat) {
      this.otherBets.takenBack(bets_cancelled.seat, betsFromMessage(bets_cancelled.bets));
    } else if (round_opened) this.otherBets.clear();
  }

  private takeSnapshot(table: TableSnapshot, own: OwnSeat | null, stakes = ownStakes(own)): void {
    const ownBets = sumBets(stakes.flatMap(({ bets }) => [...bets]));
    this.otherBets.reset(table.bets, own?.seat);
    const unreadRound = this.sequence.takeSnapshot(table, ownBets);
    if (unreadRound) this.readResult(unreadRound);
    this.closed.value = table.phase === "PHASE_CLOSED" || table.phase === "PHASE_DRAWN";
    this.slip.restore(roundTakingBets(table), stakes, takeBackForbidden(table));
  }

  /** Reads the result of a round whose end was received here. */
  private readResult(round_id: string): void {
    readOwnResult("roulette", this.table.tableId.value, round_id).then(
      (result) => this.sequence.recordRead(round_id, result),
      () => this.sequence.recordUnavailable(round_id),
    );
  }

  private takeEvent(event: TableEvent, table: TableSnapshot): void {
    const seat = this.table.ownSeat.value?.seat;
    const { bets_placed, bets_cancelled, betting_closed, round_opened, round_voided, table_emptied } = event;
    this.trackOtherBets(event);
    if (bets_placed && bets_placed.seat === seat)
      this.slip.betsPlaced(bets_placed.stake_id, betsFromMessage(bets_placed.bets));
    else if (bets_cancelled && bets_cancelled.seat === seat) {
      const { stake_id, bets, remaining_bets } = bets_cancelled;
      this.slip.betsTakenBack(stake_id, betsFromMessage(bets), betsFromMessage(remaining_bets));
    } else if (betting_closed) {
      this.slip.bettingClosed();
      this.closed.value = true;
      noMoreBetsSound();
    } else if (round_opened || round_voided || table_emptied) this.closed.value = false;
    this.sequence.takeEvent(event, table, { seat, bets: this.slip.accepted.value });
    if (round_voided || table_emptied) {
      this.slip.roundVoided();
      this.otherBets.clear();
    } else if (round_opened) {
      this.slip.roundOpened(round_opened.round?.round_id ?? "", takeBackForbidden(table));
    }
  }
}

/** The stakes of a seat that may have been read in an earlier round than the snapshot's, which says what lies on the felt. */
function stakesInRound(table: TableSnapshot, own: OwnSeat | null): readonly IdentifiedBets[] {
  const stakes = ownStakes(own);
  const bets = betsFromMessage(table.bets.find(({ seat }) => seat === own?.seat)?.bets);
  if (equalBets(bets, sumBets(stakes.flatMap((stake) => [...stake.bets])))) return stakes;
  return bets.size ? [{ stake_id: "", bets }] : [];
}
