// The state of one blackjack felt: joins the table's events, the bet slip, the cards and the decisions for the components.
import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { LocalizedText, OwnSeat, PastOutcome, TableEvent, TableSnapshot } from "../../../api/messages";
import { call, identity, requestId } from "../../../api/platform";
import type { Refusal } from "../../../api/refusal";
import { serverNow } from "../../../api/server_clock";
import type { BetSlip } from "../../../bets/bet_slip";
import { betsFromMessage, NO_BETS, type PlacedBets, sumBets } from "../../../bets/bets";
import { ownStakes, roundTakingBets, takeBackForbidden } from "../../../bets/table_bets";
import { after } from "../../../browser/after";
import { chipPlacedSound, chipsCollectedSound } from "../../../chips/chip_sounds";
import { chipSet } from "../../../chips/chips";
import type { LiveTable } from "../../../table/live/live_table";
import { resultPending } from "../../../table/live/result_pending";
import { announceOwnBets } from "../../../tray/bet_announcer";
import { BettingControls } from "../../../tray/betting_controls";
import { noMoreBetsSound, prizeSound } from "../../../tray/call_sounds";
import { soundLastSeconds } from "../../../tray/last_seconds";
import { slipPorts } from "../../../tray/slip_ports";
import { type Cents, cents } from "../../../words/money";
import { voidText } from "../../../words/reasons";
import type { Outcome, SpecificRules } from "../messages/messages";
import { parseStake, placesResult } from "../round/hand_results";
import { NO_CARDS, pictureOfOutcome, pictureOfRound, pictureOfView, placesOf } from "../round/picture";
import { EMPTIED_ROUND } from "../words/frame_texts";
import { blackjackRefusals } from "../words/refusals";
import { blackjackWords } from "../words/table_words";
import { blackjackSlip } from "./blackjack_slip";
import { cardSound } from "./card_sounds";
import { Decisions } from "./decisions";
import { KeptResult } from "./kept_result";
import type { RoundResult } from "./results";
import { announceRound } from "./round_announcer";
import { ShownCards } from "./shown_cards";
import { soundOwnTurn } from "./turn_sounds";

export type Stage = "resting" | "betting" | "closed" | "dealing" | "playing" | "result";

// How fast cards are dealt where the table does not say it.
const DEALING_MS = 450;

export class BlackjackFelt extends BettingControls {
  readonly rules: SpecificRules;
  readonly slip: BetSlip;
  readonly cards: ShownCards;
  readonly decisions: Decisions;
  /** The result of the round on the table, from the moment it is known. */
  readonly result = signal<RoundResult | null>(null);
  /** The result that may be read now: of the round on the table, or of the last one for a while. */
  readonly readable: ReadonlySignal<RoundResult | null>;
  readonly stage: ReadonlySignal<Stage>;
  readonly bettable: ReadonlySignal<boolean>;
  readonly countedBets: ReadonlySignal<PlacedBets>;
  /** The places on which other players have bet, with the amount. */
  readonly otherBets: ReadonlySignal<ReadonlyMap<number, { seat: number; cents: Cents }>>;
  /** The player's places in the round that is dealt. */
  readonly ownPlaces: ReadonlySignal<ReadonlySet<number>>;
  /** The latest outcomes without the one whose cards are still dealt. */
  readonly visiblePast: ReadonlySignal<readonly PastOutcome[]>;
  readonly voided = signal<LocalizedText | null>(null);
  /** For screen readers: the bets that count, and what happens with the cards. */
  readonly betsSaid = signal("");
  readonly roundSaid = signal("");

  private readonly phase = computed(() => this.table.snapshot.value?.phase);
  private readonly kept = new KeptResult(after);
  private readonly lastBets = signal<PlacedBets>(NO_BETS);

  constructor(readonly table: LiveTable) {
    const rules = (table.snapshot.peek()?.configuration?.rules ?? {}) as SpecificRules;
    super(chipSet(cents(rules.minimum_cents), cents(rules.maximum_cents)));
    this.rules = rules;
    this.cards = new ShownCards({ now: () => performance.now(), after }, cardSound);
    const refused = (refusal: Refusal) => this.notice.refused(refusal, table.mode.value, blackjackRefusals());
    this.slip = blackjackSlip(table.tableId.value, this.rules, {
      call,
      ...slipPorts(table, refused),
      requestId,
      lastBets: () => this.lastBets.value,
      taken: (place) => this.otherBets.value.has(place),
    });
    this.decisions = new Decisions(table, this.cards.complete, refused);
    this.otherBets = computed(() => otherBets(table.snapshot.value, table.ownSeat.value?.seat));
    this.ownPlaces = computed(() => placesOf(this.cards.picture.value, table.ownSeat.value?.seat));
    this.stage = computed(() => this.stageNow());
    this.bettable = computed(
      () => this.slip.round.value !== null && table.state.value === "playing" && this.stage.value !== "dealing",
    );
    this.countedBets = computed(() => this.countedNow());
    this.readable = computed(() => (this.stage.value === "result" ? this.result.value : this.kept.result.value));
    this.visiblePast = computed(() => {
      const past = table.snapshot.value?.past_outcomes ?? [];
      const unfolding = this.result.value !== null && this.stage.value !== "result" ? this.result.value.round_id : "";
      return past.filter(({ round_id }) => round_id !== unfolding);
    });
  }

  get dealing_ms(): number {
    return this.table.snapshot.value?.configuration?.dealing_ms || DEALING_MS;
  }

  /** Follows the table until the returned function is called. */
  follow(): () => void {
    const snapshot = this.table.snapshot.value;
    if (snapshot) this.takeSnapshot(snapshot, this.table.ownSeat.value);
    const ends = [
      this.table.onSnapshot((table, own) => this.takeSnapshot(table, own)),
      this.table.onEvent((event, table) => this.takeEvent(event, table)),
      soundLastSeconds(this.table),
      soundOwnTurn(this.decisions, this.table),
      announceOwnBets(this.slip, this.table.mode, this.betsSaid, blackjackWords().placeName),
      announceRound(this, this.roundSaid),
      effect(() => {
        const stage = this.stage.value;
        resultPending.value = stage === "closed" || stage === "dealing";
      }),
      effect(() => {
        if (this.stage.value === "result") this.soundResult();
      }),
      // At an individual table the cards lie until the player bets again.
      effect(() => {
        if (this.slip.allBets.value.size > 0 && this.slip.round.value) this.clearLastRound();
      }),
    ];
    void this.readLastBets();
    return () => {
      for (const end of ends) end();
      this.cards.stop();
      this.kept.forget();
      this.notice.close();
      resultPending.value = true;
    };
  }

  /** Places the chosen chip on a place. */
  placeChip(place: number): void {
    if (!this.continueBetting()) this.showNotice(blackjackWords().closed);
    else if (this.slip.placeChip(String(place), this.chosenChip.value.value)) chipPlacedSound();
  }

  takeBackFrom(place: number): void {
    if (this.continueBetting()) this.slip.takeBackFrom(String(place));
  }

  private clearLastRound(): void {
    this.kept.playerBets();
    this.voided.value = null;
    if (this.result.peek()) {
      this.keepResult();
      this.result.value = null;
      this.cards.collectAll();
    }
  }

  private stageNow(): Stage {
    const phase = this.phase.value;
    const complete = this.cards.complete.value;
    if (this.result.value) return complete && this.result.value.settled ? "result" : "dealing";
    if (phase === "PHASE_BETTING") return "betting";
    if (phase === "PHASE_CLOSED") return "closed";
    if (phase === "PHASE_PLAYING") return complete ? "playing" : "dealing";
    return "resting";
  }

  /** What the player has on the felt: the bets of the open round, or all stakes of the one that is played. */
  private countedNow(): PlacedBets {
    if (this.slip.round.value) return this.slip.accepted.value;
    const seat = this.table.ownSeat.value?.seat;
    return betsFromMessage(this.table.snapshot.value?.bets.find((each) => each.seat === seat)?.bets);
  }

  private soundResult(): void {
    const result = this.result.peek();
    if (!result?.staked_cents) return;
    if (result.payout_cents > result.staked_cents) prizeSound();
    else if (result.payout_cents < result.staked_cents) chipsCollectedSound();
  }

  private keepResult(): void {
    const result = this.result.peek();
    if (result?.settled) this.kept.keep(result, this.table.snapshot.peek()?.configuration?.result_shown_ms ?? 0);
  }

  private takeSnapshot(table: TableSnapshot, own: OwnSeat | null): void {
    const { round } = table;
    batch(() => {
      this.slip.restore(roundTakingBets(table), ownStakes(own), takeBackForbidden(table));
      const shownAgain =
        this.result.value && !round?.outcome && table.past_outcomes[0]?.round_id === this.result.value.round_id;
      if (shownAgain && this.table.individual.value) {
        // Only the end of the round was missed; its cards lie until the player bets.
        this.result.value = this.result.value && { ...this.result.value, settled: true };
        return;
      }
      const picture = pictureOfRound(round);
      if (picture.hands.length) this.voided.value = null;
      const lies_ms = localTime(round?.shown_at);
      this.result.value = null;
      if (round?.outcome)
        this.takeOutcome(round.round_id, round.outcome as Outcome, own?.seat, table.phase === "PHASE_RESULT_SHOWN");
      this.cards.replace(lies_ms > performance.now() ? NO_CARDS : picture);
      if (lies_ms > performance.now()) this.cards.deal(picture, lies_ms, this.dealing_ms, true);
    });
  }

  private takeEvent(event: TableEvent, table: TableSnapshot): void {
    const seat = this.table.ownSeat.value?.seat;
    const { bets_placed, bets_cancelled, betting_closed, round_dealt, move_made, outcome_drawn } = event;
    const { round_settled, round_voided, round_opened, table_emptied } = event;
    batch(() => {
      if (bets_placed && bets_placed.seat === seat && this.slip.round.value) {
        this.slip.betsPlaced(bets_placed.stake_id, betsFromMessage(bets_placed.bets));
      } else if (bets_cancelled && bets_cancelled.seat === seat) {
        const { stake_id, bets, remaining_bets } = bets_cancelled;
        this.slip.betsTakenBack(stake_id, betsFromMessage(bets), betsFromMessage(remaining_bets));
      } else if (betting_closed) {
        if (this.slip.accepted.value.size) this.lastBets.value = this.slip.accepted.value;
        this.slip.bettingClosed();
        this.kept.forget();
        this.voided.value = null;
        noMoreBetsSound();
      } else if (round_dealt) {
        if (this.slip.round.value) this.closeSlip();
        this.cards.deal(pictureOfView(round_dealt.view), localTime(round_dealt.shown_at), this.dealing_ms);
      } else if (move_made) {
        this.cards.deal(pictureOfView(move_made.view), localTime(move_made.shown_at), this.dealing_ms);
      } else if (outcome_drawn?.outcome) {
        if (this.slip.round.value) this.closeSlip();
        const outcome = outcome_drawn.outcome as Outcome;
        this.takeOutcome(outcome_drawn.round_id, outcome, seat, false);
        this.cards.deal(pictureOfOutcome(outcome), localTime(outcome_drawn.shown_at), this.dealing_ms);
      } else if (round_settled && round_settled.round_id === this.result.value?.round_id) {
        this.result.value = { ...this.result.value, settled: true };
      } else if (round_voided || table_emptied) {
        // It is read until the player bets again, or the next round is played.
        if (round_voided) this.voided.value = voidText(round_voided, EMPTIED_ROUND) ?? null;
        this.result.value = null;
        this.slip.roundVoided();
        this.cards.replace(NO_CARDS);
      } else if (round_opened) this.openRound(round_opened.round?.round_id ?? "", table);
    });
  }

  private openRound(round_id: string, table: TableSnapshot): void {
    this.slip.roundOpened(round_id, takeBackForbidden(table));
    if (this.table.individual.value) return;
    this.keepResult();
    this.result.value = null;
    this.cards.collectAll();
  }

  /** The betting of an individual table ends with the deal. */
  private closeSlip(): void {
    if (this.slip.accepted.value.size) this.lastBets.value = this.slip.accepted.value;
    this.slip.bettingClosed();
    this.kept.forget();
  }

  private takeOutcome(round_id: string, outcome: Outcome, seat: number | undefined, settled: boolean): void {
    const places = placesOf(pictureOfOutcome(outcome), seat);
    this.result.value = { round_id, outcome, settled, places, ...placesResult(outcome, places) };
  }

  /** The bets of the player's last round here, to be repeated. */
  private async readLastBets(): Promise<void> {
    const player = identity.value;
    if (player.kind === "nobody") return;
    const request = { game: "blackjack", player_id: player.playerId, table_id: this.table.tableId.value, page_size: 1 };
    const rounds = await call("TableService.ListPlayerRounds", request).then(
      (found) => found.rounds,
      () => [],
    );
    const stakes = rounds[0]?.stakes.flatMap(({ bets }) => [...betsFromMessage(bets)]) ?? [];
    const placed = sumBets(stakes.filter(([name]) => parseStake(name)?.kind === "bet"));
    if (placed.size === 0) this.slip.noEarlierRounds();
    else if (this.lastBets.value.size === 0) this.lastBets.value = placed;
  }
}

function otherBets(table: TableSnapshot | null, own: number | undefined) {
  const places = new Map<number, { seat: number; cents: Cents }>();
  for (const { seat, bets } of table?.bets ?? []) {
    if (seat === own) continue;
    for (const [name, value] of betsFromMessage(bets)) {
      const stake = parseStake(name);
      if (stake?.kind === "bet") places.set(stake.place, { seat, cents: value });
    }
  }
  return places;
}

/** A moment of the platform's on the clock that animations follow. */
function localTime(at: string | undefined): number {
  return at ? performance.now() + Date.parse(at) - serverNow() : 0;
}
