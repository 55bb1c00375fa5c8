// The state of one felt: joins the table's events, the bet slip and the deal for the components.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { OwnSeat, TableEvent, TableSnapshot } from "../../../api/messages";
import { call } from "../../../api/platform";
import type { Refusal } from "../../../api/refusal";
import { serverNow } from "../../../api/server_clock";
import { BetSlip, type IdentifiedBets } from "../../../bets/bet_slip";
import { betsFromMessage, NO_BETS, type PlacedBets, sumBets } from "../../../bets/bets";
import { readStored, writeStored } from "../../../browser/storage";
import { chipPlacedSound, chipsCollectedSound } from "../../../chips/chip_sounds";
import { type Chip, chipSet } from "../../../chips/chips";
import { readOwnResult } from "../../../results/round_record";
import type { LiveTable } from "../../../table/live/live_table";
import { resultPending } from "../../../table/live/result_pending";
import { announceOwnBets } from "../../../tray/bet_announcer";
import { BettingNotice } from "../../../tray/betting_notice";
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

export class Felt implements BettingFelt {
  readonly slip: BetSlip;
  readonly sequence: DealSequence;
  readonly chances: ReadonlyMap<string, ChanceOnTable>;
  readonly chips: readonly Chip[];
  readonly chosenChip = signal<Chip>({ value: 0, colour: 0 });
  /** The notice to the player. */
  readonly notice = new BettingNotice(after);
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
    this.chances = new Map(layout.chances.map((chance) => [chance.place, chance]));
    const minimum = Math.min(...layout.chances.map((chance) => cents(chance.minimum_cents)));
    // No maximum in Macau.
    const maxima = layout.chances.map((chance) => cents(chance.maximum_cents) || Number.POSITIVE_INFINITY);
    this.chips = chipSet(minimum, Math.max(...maxima));
    const remembered = this.chips.find(({ colour }) => String(colour) === readStored("chip"));
    this.chosenChip.value = remembered ?? this.chips[0] ?? this.chosenChip.value;
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

  choose(chip: Chip): void {
    this.notice.close();
    this.chosenChip.value = chip;
    writeStored("chip", String(chip.colour));
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

  repeat(): void {
    if (this.continueBetting()) this.slip.repeat();
  }

  double(): void {
    if (this.continueBetting() && this.slip.double()) chipPlacedSound();
  }

  start(): void {
    if (this.continueBetting()) void this.slip.start();
  }

  showNotice(text: string): void {
    this.notice.show(text, false);
  }

  /** The commission that is deducted from the prizes of a round (812/2015:26). */
  commissionOf({ outcome, bets }: RoundResult): Cents {
    return commissionCents(this.layout.rules, outcome, bets.get("banca") ?? 0);
  }

  /** What the bets of a round won beyond their stakes, commission deducted. */
  prizeOf({ outcome, bets }: RoundResult): Cents {
    return prizeCents(this.layout, bets, outcome);
  }

  /** Ends the showing of a result, so that the player can bet; false while bets are not taken. */
  private continueBetting(): boolean {
    if (!this.bettable.value) return false;
    this.sequence.dismiss();
    // A notice about an earlier click is obsolete.
    this.notice.close();
    return true;
  }

  private takeSnapshot(table: TableSnapshot, own: OwnSeat | null): void {
    const stakes = stakesOf(table, own);
    const unreadRound = this.sequence.takeSnapshot(table, sumBets(stakes.flatMap(({ bets }) => [...bets])));
    if (unreadRound) this.readResult(unreadRound);
    this.closed.value = table.phase === "PHASE_CLOSED" || table.phase === "PHASE_DRAWN";
    this.slip.restore(openRound(table), stakes, takeBackForbidden(table));
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

function openRound(table: TableSnapshot): string | null {
  return table.phase === "PHASE_BETTING" ? (table.round?.round_id ?? null) : null;
}

/** The player's stakes, where they are those that the table shows; otherwise the bets that it shows, without their ids. */
function stakesOf(table: TableSnapshot, own: OwnSeat | null): readonly IdentifiedBets[] {
  const stakes = (own?.stakes ?? []).map(({ stake_id, bets }) => ({ stake_id, bets: betsFromMessage(bets) }));
  const shown = table.bets.find(({ seat }) => seat === own?.seat);
  const staked = (own?.stakes ?? []).reduce((all, { amount_cents }) => all + cents(amount_cents), 0);
  if (staked === cents(shown?.staked_cents)) return stakes;
  return shown ? [{ stake_id: "", bets: betsFromMessage(shown.bets) }] : [];
}

function takeBackForbidden(table: TableSnapshot): boolean {
  return table.configuration?.cancel_forbidden ?? false;
}

function after(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}
