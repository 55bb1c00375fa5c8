// A hand that is over as a list of moments, from its record: the blinds, every decision, the common cards, the cards that were
// turned up, and the payments. Nothing is shown that the record does not hold for its reader.
import type { ActedBy } from "../../../api/messages";
import { type Cents, cents } from "../../../words/money";
import type { Action, Move, Outcome, Street, View } from "../messages/messages";
import type { Prize, Said, SeatPicture, TablePicture } from "../round/picture";
import { collect, decide, isRoundOver, type Money, post, potsOf, totalOf } from "./betting_round";

/** A hand as its record has it. */
export interface RecordedHand {
  outcome: Outcome;
  moves: readonly { seat: number; move: Move; acted_by: ActedBy }[];
  small_blind_cents: Cents;
  big_blind_cents: Cents;
  /** How many seats the table has. */
  seats: number;
  /** How many personal cards everybody gets. */
  personal: number;
  /** The reader's own seat and cards; none while they are not known. */
  own?: { seat: number; cards: readonly string[] } | undefined;
}

export interface HandStep {
  kind: "blinds" | "move" | "street" | "showdown" | "paid";
  picture: TablePicture;
  /** What was decided. */
  decision?: { seat: number; action: Action; added_cents: Cents; to_cents: Cents; all_in: boolean; acted_by: ActedBy };
}

const STREETS: readonly Street[] = ["STREET_PREFLOP", "STREET_FLOP", "STREET_TURN", "STREET_RIVER"];
const BOARD_CARDS = [0, 3, 4, 5];

/** One moment after the other; none of a hand that was void before it was decided. */
export function handSteps(hand: RecordedHand): HandStep[] {
  const view = hand.outcome.view as View | undefined;
  if (!view) return [];
  const posters = postersOf(hand, view);
  return new Replay(hand, view).steps(posters);
}

/** Who posted a big blind of their own free will: their bets add up to more than their decisions say. */
function postersOf(hand: RecordedHand, view: View): number[] {
  const replay = new Replay(hand, view);
  replay.steps([]);
  return hand.outcome.results
    .filter(({ seat }) => seat !== view.small_blind && seat !== view.big_blind)
    .filter(({ seat, staked_cents }) => cents(staked_cents) > replay.paidBy(seat))
    .map(({ seat }) => seat);
}

class Replay {
  private money: Money;
  private street = 0;
  private said = new Map<number, Said>();
  private readonly found: HandStep[] = [];

  constructor(
    private readonly hand: RecordedHand,
    private readonly view: View,
  ) {
    const moved = new Map(hand.outcome.results.map((result) => [result.seat, result]));
    this.money = view.seats.map(({ seat, stack_cents }) => {
      const result = moved.get(seat);
      return {
        seat,
        stack_cents: cents(stack_cents) - cents(result?.won_cents) + cents(result?.staked_cents),
        bet_cents: 0,
        collected_cents: 0,
        folded: false,
        acted: false,
      };
    });
  }

  steps(posters: readonly number[]): HandStep[] {
    const { small_blind, big_blind } = this.view;
    this.money = post(this.money, small_blind, this.hand.small_blind_cents);
    this.money = post(this.money, big_blind, this.hand.big_blind_cents);
    for (const seat of posters) this.money = post(this.money, seat, this.hand.big_blind_cents);
    this.said = new Map<number, Said>([
      [small_blind, "SMALL_BLIND"],
      [big_blind, "BIG_BLIND"],
    ]);
    this.add({ kind: "blinds", picture: this.picture() });
    this.goOn();
    for (const move of this.hand.moves) {
      this.decided(move);
      this.goOn();
    }
    this.end();
    return this.found;
  }

  /** What a seat has put into the pots. */
  paidBy(seat: number): Cents {
    return this.money.find((each) => each.seat === seat)?.collected_cents ?? 0;
  }

  private decided({ seat, move, acted_by }: RecordedHand["moves"][number]): void {
    const before = this.money.find((each) => each.seat === seat)?.stack_cents ?? 0;
    this.money = decide(this.money, seat, move.action, cents(move.to_cents));
    const after = this.money.find((each) => each.seat === seat);
    this.said.set(seat, move.action);
    this.add({
      kind: "move",
      picture: this.picture(),
      decision: {
        seat,
        action: move.action,
        added_cents: before - (after?.stack_cents ?? 0),
        to_cents: after?.bet_cents ?? 0,
        all_in: move.action !== "ACTION_FOLD" && after?.stack_cents === 0,
        acted_by,
      },
    });
  }

  /** Deals common cards as long as nobody has anything to decide. */
  private goOn(): void {
    while (isRoundOver(this.money) && this.live() > 1) {
      this.money = collect(this.money);
      const next = BOARD_CARDS[this.street + 1];
      if (next === undefined || next > this.view.board.length) return;
      this.street += 1;
      this.said = new Map([...this.said].filter(([, what]) => what === "ACTION_FOLD"));
      this.add({ kind: "street", picture: this.picture() });
    }
  }

  private end(): void {
    this.money = collect(this.money);
    const shown = this.view.seats.some(({ cards }) => cards.length > 0);
    if (shown) this.add({ kind: "showdown", picture: this.picture("showdown") });
    this.add({ kind: "paid", picture: this.picture("paid") });
  }

  private live(): number {
    return this.money.filter(({ folded }) => !folded).length;
  }

  private add(step: HandStep): void {
    this.found.push(step);
  }

  private picture(stage: "played" | "showdown" | "paid" = "played"): TablePicture {
    const { view, hand } = this;
    const paid = stage === "paid";
    return {
      seats: Array.from({ length: this.seatCount() }, (_, index) => this.seatPicture(index + 1, stage)),
      street: STREETS[this.street] ?? "STREET_RIVER",
      board: view.board.slice(0, BOARD_CARDS[this.street]),
      button: view.button,
      small_blind: view.small_blind,
      big_blind: view.big_blind,
      pots: paid || totalOf(this.money) === 0 ? [] : potsOf(this.money).filter((pot) => pot.cents > 0),
      total_cents: paid ? 0 : totalOf(this.money),
      bounds: null,
      prizes: paid ? prizesOf(hand.outcome) : [],
      commission_cents: paid ? cents(hand.outcome.commission_cents) : 0,
    };
  }

  private seatCount(): number {
    return Math.max(this.hand.seats, ...this.view.seats.map(({ seat }) => seat));
  }

  private seatPicture(seat: number, stage: "played" | "showdown" | "paid"): SeatPicture {
    const money = this.money.find((each) => each.seat === seat);
    const last = this.view.seats.find((each) => each.seat === seat);
    const compared = stage !== "played";
    const isOwn = seat === this.hand.own?.seat;
    const known = isOwn && this.hand.own?.cards.length ? this.hand.own.cards : null;
    const backs = Array<string>(this.hand.personal).fill("");
    const turnedUp = compared && last?.cards.length ? last : null;
    return {
      seat,
      taken: last !== undefined,
      cave_cents: stage === "paid" ? cents(last?.stack_cents) : (money?.stack_cents ?? 0),
      standing: last ? "CAVE_STANDING_PLAYING" : "CAVE_STANDING_UNSPECIFIED",
      disconnected: false,
      dealt: last !== undefined,
      folded: money?.folded ?? false,
      all_in: money !== undefined && !money.folded && money.stack_cents === 0 && stage !== "paid",
      bet_cents: money?.bet_cents ?? 0,
      cards: last ? (turnedUp?.cards ?? known ?? backs) : [],
      combination: turnedUp?.combination ?? "COMBINATION_UNSPECIFIED",
      best: turnedUp?.best_cards ?? [],
      said: compared ? null : (this.said.get(seat) ?? null),
    };
  }
}

function prizesOf({ payments }: Outcome): Prize[] {
  return payments.map(({ pot, seat, gross_cents, commission_cents }) => ({
    pot,
    seat,
    net_cents: cents(gross_cents) - cents(commission_cents),
  }));
}
