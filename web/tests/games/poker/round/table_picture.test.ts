// What lies on a poker table follows from the platform's messages alone.
import "../../../page";
import { describe, expect, test } from "vitest";
import { moveMessage } from "../../../../src/games/poker/messages/messages";
import {
  afterLastMove,
  blindsSaid,
  isRunOut,
  type ShownHand,
  saidAfter,
  tablePicture,
} from "../../../../src/games/poker/round/table_picture";
import { outcome, seatView, table, view } from "../hands";

const nobody = { seat: undefined, cards: [] };

function hand(more: Partial<ShownHand> = {}): ShownHand {
  return { view: view(), paid: false, over: false, said: new Map(), ...more };
}

function seatOf(shown: ShownHand | null, seat: number, own = nobody as { seat: number | undefined; cards: string[] }) {
  const found = tablePicture(table(), shown, own, 2).seats.find((each) => each.seat === seat);
  if (!found) throw new Error("no such seat");
  return found;
}

test("between hands seats show what is in their caves, and free seats are free", () => {
  const picture = tablePicture(table(), null, nobody, 2);
  expect(picture.seats).toHaveLength(6);
  expect(picture.seats[0]).toMatchObject({ taken: true, cave_cents: 10000, dealt: false, cards: [] });
  expect(picture.seats[5]).toMatchObject({ taken: false, cave_cents: 0 });
  expect(picture).toMatchObject({ button: 0, pots: [], bounds: null, total_cents: 0 });
});

test("in a hand a seat shows what is left in front of the player, and what they have bet", () => {
  expect(seatOf(hand(), 2)).toMatchObject({ cave_cents: 9950, bet_cents: 50, dealt: true });
  expect(tablePicture(table(), hand(), nobody, 2)).toMatchObject({
    button: 1,
    small_blind: 2,
    big_blind: 3,
    total_cents: 150,
    bounds: { seat: 1, to_call_cents: 100, min_to_cents: 200, max_to_cents: 10000 },
  });
});

test("cards of others are backs, and only the player's own have names", () => {
  const own = { seat: 2, cards: ["As", "Kd"] };
  expect(seatOf(hand(), 2, own).cards).toEqual(["As", "Kd"]);
  expect(seatOf(hand(), 3, own).cards).toEqual(["", ""]);
  expect(tablePicture(table(), hand(), nobody, 4).seats[0]?.cards).toEqual(["", "", "", ""]);
});

describe("the end of a hand", () => {
  const last = view({
    street: "STREET_RIVER",
    board: ["2s", "3s", "4s", "9d", "Kh"],
    seats: [seatView(2, { folded: true }), seatView(3, { stack_cents: "10100", cards: ["As", "Ad"] }), seatView(1)],
    pots: [{ cents: "210", seats: [3, 1] }],
    total_cents: "210",
  });
  const ended = outcome(last, {
    payments: [{ pot: 0, seat: 3, gross_cents: "210", commission_cents: "10" }],
    commission_cents: "10",
  });

  test("a prize is in the pot until it is paid, and then in the cave", () => {
    const before = hand({ view: last, outcome: ended });
    expect(seatOf(before, 3).cave_cents).toBe(9900);
    expect(tablePicture(table(), before, nobody, 2)).toMatchObject({
      pots: [{ cents: 210, seats: [3, 1] }],
      bounds: null,
      prizes: [{ pot: 0, seat: 3, net_cents: 200 }],
      commission_cents: 10,
    });
    const paid = { ...before, paid: true };
    expect(seatOf(paid, 3).cave_cents).toBe(10100);
    expect(tablePicture(table(), paid, nobody, 2)).toMatchObject({ pots: [], total_cents: 0 });
  });

  test("afterwards caves are what the table says, with what was bought in", () => {
    expect(seatOf(hand({ view: last, outcome: ended, paid: true, over: true }), 3).cave_cents).toBe(10000);
  });

  test("caves that are told while cards are still compared give nothing away", () => {
    expect(seatOf(hand({ view: last, outcome: ended, paid: false, over: true }), 3).cave_cents).toBe(9900);
  });

  test("a player who has left in the meantime is not shown any more", () => {
    const left = { ...table(), caves: [], seats: table().seats.map((each) => ({ ...each, taken: false })) };
    const over = hand({ view: last, outcome: ended, paid: true, over: true });
    expect(tablePicture(left, over, nobody, 2).seats[2]).toMatchObject({ taken: false, cards: [] });
  });
});

describe("the decision that ends a hand, before its outcome is told", () => {
  test("a fold shows no more than the fold", () => {
    const after = afterLastMove(view(), 1, moveMessage("ACTION_FOLD"));
    expect(after.seats.find(({ seat }) => seat === 1)?.folded).toBe(true);
    expect(after.total_cents).toBe("150");
    expect(after.legal).toBeUndefined();
  });

  test("a call takes what matches the highest bet, at most everything", () => {
    const after = afterLastMove(view(), 1, moveMessage("ACTION_CALL"));
    expect(after.seats[2]).toMatchObject({ stack_cents: "9900", bet_cents: "100", all_in: false });
    expect(after.total_cents).toBe("250");
    const poor = view({ seats: [seatView(2, { bet_cents: "500" }), seatView(1, { stack_cents: "300" })] });
    expect(afterLastMove(poor, 1, moveMessage("ACTION_CALL")).seats[1]).toMatchObject({
      stack_cents: "0",
      bet_cents: "300",
      all_in: true,
    });
  });

  test("a raise makes the bet what it says", () => {
    const after = afterLastMove(view(), 1, moveMessage("ACTION_RAISE", 700));
    expect(after.seats[2]).toMatchObject({ stack_cents: "9300", bet_cents: "700" });
  });
});

describe("what players did last", () => {
  test("a hand begins with the blinds", () => {
    expect([...blindsSaid(view())]).toEqual([
      [2, "SMALL_BLIND"],
      [3, "BIG_BLIND"],
    ]);
    expect(blindsSaid(view({ street: "STREET_FLOP" })).size).toBe(0);
  });

  test("a new betting round remembers who has folded, and nothing else", () => {
    const flop = view({ street: "STREET_FLOP" });
    const said = saidAfter(new Map([[2, "ACTION_FOLD"]]), view(), view(), 1, moveMessage("ACTION_CALL"));
    expect(said.get(1)).toBe("ACTION_CALL");
    const next = saidAfter(said, view(), flop, 3, moveMessage("ACTION_CHECK"));
    expect(next.get(1)).toBeUndefined();
    expect(next.get(2)).toBe("ACTION_FOLD");
  });
});

describe("cards that are dealt when nobody decides any more", () => {
  const seats = [seatView(2, { stack_cents: "4000", cards: ["As", "Ad"] }), seatView(3, { stack_cents: "0" })];
  const flop = view({ street: "STREET_FLOP", board: ["2s", "3s", "4s"], seats });

  test("a run-out has common cards to come among several players", () => {
    expect(isRunOut(flop)).toBe(true);
    expect(isRunOut({ ...flop, board: ["2s", "3s", "4s", "9d", "Kh"] })).toBe(false);
    expect(isRunOut({ ...flop, seats: seats.map((seat) => ({ ...seat, folded: seat.seat === 3 })) })).toBe(false);
  });
});
