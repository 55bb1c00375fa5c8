// The state of one felt: joins the table's events, the bet slip and the deal for the components.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { OwnSeat, TableEvent, TableSnapshot } from "../../../api/messages";
import { call } from "../../../api/platform";
import type { Refusal } from "../../../api/refusal";
import { serverNow } from "../../../api/server_clock";
import { BetSlip, type IdentifiedBets } from "../../../bets/bet_slip";
import { betsFromMessage, NO_BETS, type PlacedBets, sumBets } from "../../../bets/bets";
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
import type { BettingFelt } from "../../../tray/tray";
import { trayWords } from "../../../tray/words";
import { type Cents, cents } from "../../../words/money";
import { bettingRules } from "../bets/baccarat_slip";
import { commissionCents, prizeCents } from "../bets/prizes";
import { cardTurnedSound } from "../deal/card_sounds";
import { DealSequence } from "../deal/deal_sequence";
import type { RoundResult } from "../deal/results";
import type { ChanceOnTable, Layout } from "../layout/messages";
import { chanceName } from "../words/chances";
import { baccaratRefusals } from "../words/refusals";

export class Felt extends BettingControls implements BettingFelt {
  readonly slip: BetSlip;
  readonly sequence: DealSequence;
  readonly chances: ReadonlyMap<string, ChanceOnTable>;
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
    const minimum = Math.min(...layout.chances.map((chance) => cents(chance.minimum_cents)));
    // No maximum in Macau.
    const maxima = layout.chances.map((chance) => cents(chance.maximum_cents) || Number.POSITIVE_INFINITY);
    super(chipSet(minimum, Math.max(...maxima)));
    this.chances = new Map(layout.chances.map((chance) => [chance.place, chance]));
    const refused = (refusal: Refusal) => this.notice.refused(refusal, table.mode.value, baccaratRefusals());
    this.slip = new BetSlip(bettingRules(table.tableId.value, layout, call), slipPorts(table, refused));
    this.sequence = new DealSequence({ now: () => performance.now(), serverNow, after });
    this.shownBets = computed(() => this.sequence.result.value?.bets ?? this.slip.accepted.value);
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
  }

  /** Follows the table until the returned function is called. */
  follow(): () => void {
    const snapshot = this.table.snapshot.value;
    if (snapshot) this.takeSnapshot(snapshot, this.table.ownSeat.value);
    const ends = [
      this.table.onSnapshot((table, own) => this.takeSnapshot(table, own)),
      this.table.onEvent((event, table) => this.takeEvent(event, table)),
      soundLastSeconds(this.table),
      effect(() => {
        const { ponto, banca } = this.sequence.revealed.value;
        if (ponto + banca && this.sequence.stage.peek() === "dealing") cardTurnedSound();
      }),
      effect(() => {
        const stage = this.sequence.stage.value;
        const result = this.sequence.result.peek();
        if (stage === "collected" && result?.staked_cents) chipsCollectedSound();
        if (stage === "paid" && result && result.payout_cents > result.staked_cents) prizeSound();
      }),
      effect(() => {
        const stage = this.sequence.stage.value;
        resultPending.value = stage === "quiet" ? this.closed.value : stage !== "paid";
      }),
      announceOwnBets(this.slip, this.table.mode, this.announcement, chanceName),
    ];
    return () => {
      for (const end of ends) end();
      this.sequence.stop();
      this.notice.close();
      resultPending.value = true;
    };
  }

  placeChip(chance: string): void {
    if (!this.continueBetting()) this.showNotice(trayWords().blocked.closed);
    else if (this.slip.placeChip(chance, this.chosenChip.value.value)) chipPlacedSound();
  }

  takeBackFrom(chance: string): void {
    const { undoBlocked } = this.slip;
    const why = this.bettable.value ? undoBlocked.value : "closed";
    if (why) this.showNotice(trayWords().blocked[why]);
    else this.slip.takeBackFrom(chance);
  }

  /** The commission that is deducted from the prizes of a round (812/2015:26). */
  commissionOf({ outcome, bets }: RoundResult): Cents {
    return commissionCents(this.layout.rules, outcome, bets.get("banca") ?? 0);
  }

  /** What the bets of a round won beyond their stakes, commission deducted. */
  prizeOf({ outcome, bets }: RoundResult): Cents {
    return prizeCents(this.layout, bets, outcome);
  }

  protected override endShowing(): void {
    this.sequence.dismiss();
  }

  private takeSnapshot(table: TableSnapshot, own: OwnSeat | null): void {
    const stakes = stakesOf(table, own);
    const unreadRound = this.sequence.takeSnapshot(table, sumBets(stakes.flatMap(({ bets }) => [...bets])));
    if (unreadRound) this.readResult(unreadRound);
    this.closed.value = table.phase === "PHASE_CLOSED" || table.phase === "PHASE_DRAWN";
    this.slip.restore(roundTakingBets(table), stakes, takeBackForbidden(table));
  }

  /** Reads the result of a round whose end was not received here. */
  private readResult(round_id: string): void {
    readOwnResult("baccarat", this.table.tableId.value, round_id).then(
      (result) => this.sequence.recordRead(round_id, result),
      () => this.sequence.recordUnavailable(round_id),
    );
  }

  private takeEvent(event: TableEvent, table: TableSnapshot): void {
    const seat = this.table.ownSeat.value?.seat;
    const { bets_placed, bets_cancelled, betting_closed, round_opened, round_voided, table_emptied } = event;
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
    if (round_voided || table_emptied) this.slip.roundVoided();
    else if (round_opened) this.slip.roundOpened(round_opened.round?.round_id ?? "", takeBackForbidden(table));
  }
}

/** The player's stakes, where they are those that the table shows; otherwise the bets that it shows, without their ids. */
function stakesOf(table: TableSnapshot, own: OwnSeat | null): readonly IdentifiedBets[] {
  const stakes = ownStakes(own);
  const shown = table.bets.find(({ seat }) => seat === own?.seat);
  const staked = (own?.stakes ?? []).reduce((all, { amount_cents }) => all + cents(amount_cents), 0);
  if (staked === cents(shown?.staked_cents)) return stakes;
  return shown ? [{ stake_id: "", bets: betsFromMessage(shown.bets) }] : [];
}
