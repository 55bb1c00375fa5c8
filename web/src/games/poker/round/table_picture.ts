// The picture of a table from the platform's messages: caves and seats, and the hand that is played or was played last.
import type { CaveAtSeat, TableSnapshot } from "../../../api/messages";
import { type Cents, cents } from "../../../words/money";
import type { Move, Outcome, SeatView, View } from "../messages/messages";
import type { Bounds, Prize, Said, SeatPicture, TablePicture } from "./picture";

/** A hand as far as it may be shown. */
export interface ShownHand {
  view: View;
  /** Once the hand is over. */
  outcome?: Outcome | undefined;
  /** The pots have gone to the winners. */
  paid: boolean;
  /** What is in the caves now includes what the hand has brought. */
  over: boolean;
  said: ReadonlyMap<number, Said>;
  /** Nobody decides any more, and common cards are still being dealt. */
  runsOut?: boolean;
}

interface Own {
  seat: number | undefined;
  /** The player's personal cards; none while they are not known. */
  cards: readonly string[];
}

/** How many seats a table has, and who sits there. */
type Seats = Pick<TableSnapshot, "seats" | "caves" | "chips" | "configuration">;

/** What a player has at a seat. */
type Stack = Pick<CaveAtSeat, "seat" | "cave_cents" | "standing" | "disconnected">;

const NO_HAND = {
  street: "STREET_UNSPECIFIED",
  board: [],
  button: 0,
  small_blind: 0,
  big_blind: 0,
  pots: [],
  total_cents: 0,
  bounds: null,
  prizes: [],
  commission_cents: 0,
} as const;

/** `personal` is how many cards each player is dealt. */
export function tablePicture(table: Seats, hand: ShownHand | null, own: Own, personal: number): TablePicture {
  const caves = new Map(stacksOf(table).map((cave) => [cave.seat, cave]));
  const dealt = new Map((hand?.view.seats ?? []).map((seat) => [seat.seat, seat]));
  const prizes = hand?.outcome ? prizesOf(hand.outcome) : [];
  const seats = seatNumbers(table).map((seat) => {
    const view = dealt.get(seat);
    const shown = seatPicture(seat, caves.get(seat), isTaken(table, seat) || (view !== undefined && !isOver(hand)));
    if (!view || !hand || !shown.taken) return shown;
    return inHand(shown, view, hand, {
      prize_cents: sum(prizes.filter((prize) => prize.seat === seat)),
      cards: seat === own.seat && own.cards.length ? own.cards : Array<string>(personal).fill(""),
    });
  });
  if (!hand) return { ...NO_HAND, seats };
  const { view, outcome, paid } = hand;
  const pots = view.pots.map((pot) => ({ cents: cents(pot.cents), seats: pot.seats }));
  return {
    seats,
    street: view.street,
    board: view.board,
    button: view.button,
    small_blind: view.small_blind,
    big_blind: view.big_blind,
    pots: paid ? [] : pots,
    total_cents: paid ? 0 : outcome ? pots.reduce((all, pot) => all + pot.cents, 0) : cents(view.total_cents),
    bounds: outcome ? null : boundsOf(view.legal),
    prizes: outcome ? prizes : [],
    commission_cents: cents(outcome?.commission_cents),
  };
}

/** What each player has between hands: a cave, or the chips of a tournament, whose players may be away (810/2015:26). */
function stacksOf({ caves, chips }: Seats): readonly Stack[] {
  if (!chips) return caves ?? [];
  return chips.seats.map(({ seat, chips: count, away, disconnected }) => ({
    seat,
    cave_cents: count,
    standing: away ? "CAVE_STANDING_AWAY" : "CAVE_STANDING_PLAYING",
    disconnected,
  }));
}

/** The numbers of the seats, from 1. */
function seatNumbers(table: Seats): number[] {
  const { seats, configuration } = table;
  const count = Math.max(configuration?.seats ?? 0, seats.length, ...stacksOf(table).map(({ seat }) => seat));
  return Array.from({ length: count }, (_, index) => index + 1);
}

function isTaken(table: Seats, seat: number): boolean {
  return (
    table.seats.some((each) => each.seat === seat && each.taken) || stacksOf(table).some((stack) => stack.seat === seat)
  );
}

function seatPicture(seat: number, cave: Stack | undefined, taken: boolean): SeatPicture {
  return {
    seat,
    taken,
    cave_cents: cents(cave?.cave_cents),
    standing: cave?.standing ?? "CAVE_STANDING_UNSPECIFIED",
    disconnected: cave?.disconnected ?? false,
    dealt: false,
    folded: false,
    all_in: false,
    bet_cents: 0,
    cards: [],
    combination: "COMBINATION_UNSPECIFIED",
    best: [],
    said: null,
  };
}

function inHand(
  seat: SeatPicture,
  view: SeatView,
  shown: ShownHand,
  { prize_cents, cards }: { prize_cents: Cents; cards: readonly string[] },
): SeatPicture {
  const { outcome, paid, said } = shown;
  // The platform counts a prize to the cave at once; here its chips still have to come.
  const withheld = outcome && !paid ? prize_cents : 0;
  return {
    ...seat,
    dealt: true,
    cave_cents: isOver(shown) ? seat.cave_cents : cents(view.stack_cents) - withheld,
    bet_cents: outcome ? 0 : cents(view.bet_cents),
    folded: view.folded,
    all_in: view.all_in,
    cards: view.cards.length ? view.cards : cards,
    combination: view.combination,
    best: view.best_cards,
    said: said.get(seat.seat) ?? null,
  };
}

/** Caves may be told before the hand has been shown to its end. */
function isOver(hand: ShownHand | null): boolean {
  return Boolean(hand?.over && hand.paid);
}

export function boundsOf(legal: View["legal"] | undefined): Bounds | null {
  if (!legal?.seat) return null;
  const { seat, to_call_cents, min_to_cents, max_to_cents } = legal;
  return {
    seat,
    to_call_cents: cents(to_call_cents),
    min_to_cents: cents(min_to_cents),
    max_to_cents: cents(max_to_cents),
  };
}

function prizesOf({ payments }: Outcome): Prize[] {
  return payments.map(({ pot, seat, gross_cents, commission_cents }) => ({
    pot,
    seat,
    net_cents: cents(gross_cents) - cents(commission_cents),
  }));
}

function sum(prizes: readonly Prize[]): Cents {
  return prizes.reduce((all, { net_cents }) => all + net_cents, 0);
}

/** A hand after a decision that ends it, as far as the decision alone says: what it decides follows with the outcome. */
export function afterLastMove(before: View, seat: number, move: Move): View {
  const highest = Math.max(0, ...before.seats.map(({ bet_cents }) => cents(bet_cents)));
  const seats = before.seats.map((each) => {
    if (each.seat !== seat) return each;
    if (move.action === "ACTION_FOLD") return { ...each, folded: true };
    const [stack, bet] = [cents(each.stack_cents), cents(each.bet_cents)];
    const wanted =
      move.action === "ACTION_RAISE" ? cents(move.to_cents) : move.action === "ACTION_CALL" ? highest : bet;
    const added = Math.min(stack, Math.max(0, wanted - bet));
    const [left, now] = [stack - added, bet + added];
    return { ...each, stack_cents: String(left), bet_cents: String(now), all_in: each.all_in || left === 0 };
  });
  const added = cents(sumOf(seats)) - cents(sumOf(before.seats));
  const { legal: _, ...rest } = before;
  return { ...rest, seats, total_cents: String(cents(before.total_cents) + added) };
}

function sumOf(seats: readonly SeatView[]): string {
  return String(seats.reduce((all, { bet_cents }) => all + cents(bet_cents), 0));
}

const WHOLE_BOARD = 5;

/** Whether common cards are still to come in a hand, among several players: after its last decision they are dealt out. */
export function isRunOut({ board, seats }: View): boolean {
  return board.length < WHOLE_BOARD && seats.filter(({ folded }) => !folded).length > 1;
}

/** The blinds of a hand in which nobody has acted yet. */
export function blindsSaid(view: View): ReadonlyMap<number, Said> {
  const posted = view.seats.filter(({ bet_cents }) => cents(bet_cents) > 0).map(({ seat }) => seat);
  const said = new Map<number, Said>();
  if (view.street !== "STREET_PREFLOP") return said;
  if (posted.includes(view.small_blind)) said.set(view.small_blind, "SMALL_BLIND");
  if (posted.includes(view.big_blind)) said.set(view.big_blind, "BIG_BLIND");
  return said;
}

/** What each player did last in the betting round, after a decision; a new betting round begins in silence. */
export function saidAfter(
  said: ReadonlyMap<number, Said>,
  before: View,
  after: View,
  seat: number,
  move: Move,
): ReadonlyMap<number, Said> {
  const folded = new Map([...said].filter(([, what]) => what === "ACTION_FOLD"));
  const kept = before.street === after.street ? said : folded;
  return new Map([...kept, [seat, move.action]]);
}
