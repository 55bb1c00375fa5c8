// The state of one poker felt: joins the table's events, the player's cards and the pace of the deal for the components.
//
// Nothing is shown before its event, no common card is on the page before it is dealt, and nobody has won before the
// platform's `shown_at`.
import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { LocalizedText, PastOutcome, TableEvent, TableSnapshot } from "../../../api/messages";
import { serverNow } from "../../../api/server_clock";
import { dealingSpans, type Span } from "../../../cards/card_motion";
import { chipPlacedSound, chipsCollectedSound } from "../../../chips/chip_sounds";
import type { LiveTable } from "../../../table/live/live_table";
import { resultPending } from "../../../table/live/result_pending";
import { prizeSound } from "../../../tray/call_sounds";
import { cents } from "../../../words/money";
import { voidText } from "../../../words/reasons";
import type { Move, Outcome, OwnView, SpecificRules, View } from "../messages/messages";
import { type BestHand, bestHand } from "../round/best_hand";
import { betsCollected, type ChipFlight, lastBets, prizesMoved } from "../round/chip_flights";
import type { TablePicture } from "../round/picture";
import { afterLastMove, blindsSaid, isRunOut, type ShownHand, saidAfter, tablePicture } from "../round/table_picture";
import { EMPTIED_ROUND } from "../words/frame_texts";
import { regulationOf } from "../words/limits";
import { cardSound } from "./card_sounds";
import { announceHand } from "./hand_announcer";
import { soundOwnTurn } from "./turn_sounds";

export type Stage = "waiting" | "dealing" | "playing" | "showing" | "result";

/** Chips on their way, and when. */
export interface MovingChips extends ChipFlight {
  key: number;
  span: Span;
}

// How fast cards are dealt where the table does not say it.
const DEALING_MS = 350;
// How long chips are on their way.
const FLIGHT_MS = 520;
// How long cards that are turned up, or the last decision, are seen before the result, and the result before it is paid.
const COMPARED_MS = 900;
const PAID_AFTER_MS = 900;
// How long one winner's combination is marked, where several win.
const MARKED_MS = 2200;

export class PokerFelt {
  readonly rules: SpecificRules;
  /** How many cards each player is dealt. */
  readonly personal: number;
  readonly picture: ReadonlySignal<TablePicture>;
  readonly stage: ReadonlySignal<Stage>;
  /** When a seat's cards, and the common ones, are dealt; undefined of those that lie. */
  readonly dealt = signal<ReadonlyMap<string, Span>>(new Map());
  readonly moving = signal<readonly MovingChips[]>([]);
  /** The seat that decides now, while the cards lie. */
  readonly deciding: ReadonlySignal<number | null>;
  /** The player's best combination with the cards that lie. */
  readonly ownBest: ReadonlySignal<BestHand | null>;
  /** The winner whose combination is marked. */
  readonly marked: ReadonlySignal<number | null>;
  readonly visiblePast: ReadonlySignal<readonly PastOutcome[]>;
  readonly voided = signal<LocalizedText | null>(null);
  /** For screen readers: what happens in the hand. */
  readonly said = signal("");

  private readonly hand = signal<ShownHand | null>(null);
  /** How many of the common cards are on the table. */
  private readonly common = signal(0);
  private readonly result = signal(false);
  private readonly markedAt = signal(0);
  private readonly ownCards = signal<{ round_id: string; cards: readonly string[] }>({ round_id: "", cards: [] });
  private round_id = "";
  private timers = new Set<() => void>();
  private flights = 0;

  constructor(readonly table: LiveTable) {
    const configuration = table.snapshot.peek()?.configuration;
    this.rules = (configuration?.rules ?? {}) as SpecificRules;
    this.personal = personalCards(configuration && regulationOf(configuration));
    this.picture = computed(() => this.pictureNow());
    this.stage = computed(() => this.stageNow());
    this.deciding = computed(() => {
      const turn = table.turn.value;
      return turn && this.stage.value === "playing" && !table.dealing.value ? (turn.seats[0] ?? null) : null;
    });
    this.ownBest = computed(() => {
      const { seats, board } = this.picture.value;
      const own = seats.find(({ seat }) => seat === table.ownSeat.value?.seat);
      return own?.dealt && !own.folded && own.cards.length ? bestHand(own.cards, board) : null;
    });
    this.marked = computed(() => {
      if (!this.result.value) return null;
      const { prizes, seats } = this.picture.value;
      const winners = [...new Set(prizes.map(({ seat }) => seat))].filter((winner) =>
        seats.some(({ seat, best }) => seat === winner && best.length > 0),
      );
      return winners[this.markedAt.value % Math.max(winners.length, 1)] ?? null;
    });
    this.visiblePast = computed(() => {
      const past = table.snapshot.value?.past_outcomes ?? [];
      const showing = this.hand.value?.outcome && !this.result.value;
      return showing ? past.filter(({ round_id }) => round_id !== this.round_id) : past;
    });
  }

  get dealing_ms(): number {
    return this.table.snapshot.value?.configuration?.dealing_ms || DEALING_MS;
  }

  /** Follows the table until the returned function is called. */
  follow(): () => void {
    const snapshot = this.table.snapshot.value;
    if (snapshot) this.takeSnapshot(snapshot);
    const ends = [
      this.table.onSnapshot((table) => this.takeSnapshot(table)),
      this.table.onEvent((event, table) => this.takeEvent(event, table)),
      effect(() => this.keepOwnCards()),
      effect(() => {
        resultPending.value = this.stage.value === "showing";
      }),
      soundOwnTurn(this.table),
      announceHand(this, this.said),
    ];
    return () => {
      for (const end of ends) end();
      this.stop();
      resultPending.value = true;
    };
  }

  /** Their own cards stay the same throughout the hand, also when the player has folded. */
  private keepOwnCards(): void {
    const view = this.table.own.seen.value as Partial<OwnView> | null;
    const round_id = this.table.snapshot.value?.round?.round_id;
    const kept = this.ownCards.peek();
    if (!view?.cards?.length || !round_id) return;
    if (kept.round_id !== round_id || kept.cards.join() !== view.cards.join()) {
      this.ownCards.value = { round_id, cards: view.cards };
    }
  }

  private pictureNow(): TablePicture {
    const table = this.table.snapshot.value;
    const hand = this.hand.value;
    if (!table) return tablePicture({ seats: [], caves: [] }, null, { seat: undefined, cards: [] }, 0);
    const kept = this.ownCards.value;
    const own = { seat: this.table.ownSeat.value?.seat, cards: kept.round_id === this.round_id ? kept.cards : [] };
    const picture = tablePicture(table, hand, own, this.personal);
    const board = picture.board.slice(0, this.common.value);
    if (this.result.value) return { ...picture, board };
    // What cards make together is seen once all of them lie.
    const seats = picture.seats.map((seat) => ({ ...seat, combination: "COMBINATION_UNSPECIFIED" as const, best: [] }));
    return { ...picture, board, seats, prizes: [], commission_cents: 0 };
  }

  private stageNow(): Stage {
    const hand = this.hand.value;
    if (!hand) return "waiting";
    if (hand.outcome) return this.result.value ? "result" : "showing";
    if (hand.runsOut) return "showing";
    return this.table.dealing.value ? "dealing" : "playing";
  }

  private takeSnapshot(table: TableSnapshot): void {
    const { round } = table;
    this.stop();
    batch(() => {
      const outcome = round?.outcome as Outcome | undefined;
      const view = outcome?.view ? (outcome.view as View) : (round?.view as View | undefined);
      this.round_id = round?.round_id ?? "";
      if (!view || table.phase === "PHASE_IDLE" || table.phase === "PHASE_DISABLED") {
        this.clear();
        return;
      }
      this.hand.value = { view, outcome, paid: false, over: false, said: blindsSaid(view) };
      this.common.value = view.board.length;
      if (!outcome) return;
      const wait_ms = localTime(round?.shown_at) - performance.now();
      if (table.phase === "PHASE_RESULT_SHOWN" && wait_ms <= 0) {
        this.hand.value = { view, outcome, paid: true, over: true, said: new Map() };
        this.showResult();
      } else this.resultIn(Math.max(0, wait_ms), true);
    });
  }

  private takeEvent(event: TableEvent, table: TableSnapshot): void {
    const { round_dealt, move_made, cards_shown, outcome_drawn, round_settled, caves_changed } = event;
    const { round_voided, table_emptied, chips_changed } = event;
    batch(() => {
      if (round_dealt) this.deal(round_dealt.round_id, round_dealt.view as View, localTime(round_dealt.shown_at));
      else if (move_made) {
        this.takeMove(move_made.seat, move_made.move as Move, move_made.view as View, {
          decided: !move_made.turn,
          lies_ms: localTime(move_made.shown_at),
        });
      } else if (cards_shown) {
        this.takeStreet(cards_shown.view as View, localTime(cards_shown.shown_at));
      } else if (outcome_drawn?.outcome) {
        this.takeOutcome(outcome_drawn.outcome as Outcome, localTime(outcome_drawn.shown_at));
      } else if (caves_changed || chips_changed) {
        const hand = this.hand.value;
        if (hand?.outcome && this.settled) this.hand.value = { ...hand, over: true };
      } else if (round_settled) this.settled = true;
      else if (round_voided || table_emptied || table.phase === "PHASE_DISABLED") {
        this.stop();
        this.clear();
        if (round_voided) this.voided.value = voidText(round_voided, EMPTIED_ROUND) ?? null;
      }
    });
  }

  private settled = false;

  private clear(): void {
    this.hand.value = null;
    this.common.value = 0;
    this.result.value = false;
    this.settled = false;
    this.dealt.value = new Map();
    this.moving.value = [];
  }

  private deal(round_id: string, view: View, lies_ms: number): void {
    this.stop();
    this.clear();
    this.voided.value = null;
    this.round_id = round_id;
    this.hand.value = { view, paid: false, over: false, said: blindsSaid(view) };
    this.common.value = view.board.length;
    // One card to each player, from the left of the button, as often as there are cards.
    const spans = dealingSpans(view.seats.length * this.personal, this.dealing_ms, lies_ms);
    if (lies_ms <= performance.now()) return;
    const order = Array.from({ length: this.personal }, (_, card) =>
      view.seats.map(({ seat }) => cardKey(seat, card)),
    ).flat();
    this.dealt.value = new Map(order.flatMap((key, at) => (spans[at] ? [[key, spans[at]]] : [])));
    for (const span of spans) this.at(span.from_ms, cardSound);
  }

  private takeMove(seat: number, move: Move, view: View, { decided, lies_ms }: { decided: boolean; lies_ms: number }) {
    const before = this.hand.value;
    if (!before) return;
    // Where cards are still to come, the view holds no result yet.
    const runsOut = decided && isRunOut(view);
    const after = decided && !runsOut ? afterLastMove(before.view, seat, move) : view;
    const said = saidAfter(before.said, before.view, after, seat, move);
    this.hand.value = { ...before, view: after, said, runsOut };
    if (move.action === "ACTION_CALL" || move.action === "ACTION_RAISE") chipPlacedSound();
    else if (move.action === "ACTION_FOLD") cardSound();
    if (decided && !runsOut) return;
    this.fly(runsOut ? lastBets(afterLastMove(before.view, seat, move)) : betsCollected(before.view, after));
    this.dealCommon(after.board, lies_ms);
  }

  /** Shows the next street of a hand in which nobody decides any more. */
  private takeStreet(view: View, lies_ms: number): void {
    const before = this.hand.value;
    if (!before || before.outcome) return;
    this.hand.value = { ...before, view, runsOut: true };
    this.dealCommon(view.board, lies_ms);
  }

  private takeOutcome(outcome: Outcome, lies_ms: number): void {
    const before = this.hand.value;
    const view = outcome.view as View;
    if (before && !before.outcome) this.fly(lastBets(before.view));
    const folded = [...(before?.said ?? [])].filter(([, what]) => what === "ACTION_FOLD");
    this.settled = false;
    this.hand.value = { view, outcome, paid: false, over: false, said: new Map(folded) };
    this.dealCommon(view.board, lies_ms);
    const compared = view.seats.some(({ cards }) => cards.length > 0);
    this.resultIn(Math.max(lies_ms - performance.now(), 0) + (compared ? COMPARED_MS : 0), compared);
  }

  /** Has common cards appear one by one, so that the last lies at the given moment. */
  private dealCommon(board: readonly string[], lies_ms: number): void {
    const lying = this.common.peek();
    const coming = board.length - lying;
    if (coming <= 0) return;
    const now = performance.now();
    if (lies_ms <= now) {
      this.common.value = board.length;
      return;
    }
    const spans = dealingSpans(coming, this.dealing_ms, lies_ms);
    this.dealt.value = new Map([
      ...this.dealt.peek(),
      ...spans.map((span, at): [string, Span] => [cardKey(0, lying + at), span]),
    ]);
    spans.forEach((span, at) => {
      this.at(span.from_ms, () => {
        this.common.value = Math.max(this.common.peek(), lying + at + 1);
        cardSound();
      });
    });
  }

  private resultIn(wait_ms: number, compared: boolean): void {
    this.after(wait_ms, () => {
      this.showResult();
      this.after(compared ? PAID_AFTER_MS : 0, () => this.pay());
    });
  }

  private showResult(): void {
    this.common.value = this.hand.peek()?.view.board.length ?? 0;
    this.markedAt.value = 0;
    this.result.value = true;
    const winners = new Set(this.hand.peek()?.outcome?.payments.map(({ seat }) => seat)).size;
    for (let turn = 1; turn <= 2 * (winners - 1); turn += 1) {
      this.after(turn * MARKED_MS, () => {
        this.markedAt.value = turn;
      });
    }
  }

  private pay(): void {
    const hand = this.hand.value;
    if (!hand?.outcome || hand.paid) return;
    batch(() => {
      this.fly(prizesMoved(this.picture.value.prizes));
      this.hand.value = { ...hand, paid: true };
    });
    const own = hand.outcome.results.find(({ seat }) => seat === this.table.ownSeat.peek()?.seat);
    if (own && cents(own.won_cents) > cents(own.staked_cents)) prizeSound();
    else chipsCollectedSound();
  }

  private fly(flights: readonly ChipFlight[]): void {
    if (flights.length === 0) return;
    const from_ms = performance.now();
    const span = { from_ms, until_ms: from_ms + FLIGHT_MS };
    const added = flights.map((flight): MovingChips => {
      this.flights += 1;
      return { ...flight, span, key: this.flights };
    });
    const keys = new Set(added.map(({ key }) => key));
    this.moving.value = [...this.moving.peek(), ...added];
    this.after(FLIGHT_MS, () => {
      this.moving.value = this.moving.peek().filter(({ key }) => !keys.has(key));
    });
  }

  private at(moment_ms: number, then: () => void): void {
    this.after(Math.max(0, moment_ms - performance.now()), then);
  }

  private after(wait_ms: number, then: () => void): void {
    const cancel = () => clearTimeout(timer);
    const timer = setTimeout(() => {
      this.timers.delete(cancel);
      then();
    }, wait_ms);
    this.timers.add(cancel);
  }

  private stop(): void {
    for (const cancel of this.timers) cancel();
    this.timers.clear();
  }
}

/** Hold'em deals two, Omaha four (806/2015:25, 811/2015:25). */
export function personalCards(regulation: string | undefined): number {
  return regulation === "811/2015" ? 4 : 2;
}

/** A card by its seat, 0 for the common ones, and its number from 0. */
export function cardKey(seat: number, card: number): string {
  return `${seat}.${card}`;
}

/** A moment of the platform's on the clock that animations follow. */
function localTime(at: string | undefined): number {
  return at ? performance.now() + Date.parse(at) - serverNow() : 0;
}
