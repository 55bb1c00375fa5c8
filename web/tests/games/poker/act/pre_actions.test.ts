// Decisions before the turn: what they become, and when they are void because the amount has changed.
import "../../../page";
import { describe, expect, test } from "vitest";
import {
  actionOf,
  type Outlook,
  outlookOf,
  type PreActionKind,
  preActionsOffered,
  stillHolds,
} from "../../../../src/games/poker/act/pre_actions";
import type { View } from "../../../../src/games/poker/messages/messages";

const FREE: Outlook = { round_id: "r", street: "STREET_FLOP", to_call_cents: 0 };
const BET: Outlook = { ...FREE, to_call_cents: 300 };

function view(...seats: [seat: number, stack: number, bet: number, state?: "folded" | "all_in"][]): View {
  return {
    street: "STREET_FLOP",
    seats: seats.map(([seat, stack, bet, state]) => ({
      seat,
      stack_cents: String(stack),
      bet_cents: String(bet),
      folded: state === "folded",
      all_in: state === "all_in",
      cards: [],
    })),
  } as unknown as View;
}

describe("what the player would face", () => {
  test("the highest bet less their own", () => {
    expect(outlookOf(view([1, 900, 300], [2, 1000, 100]), "r", 2)?.to_call_cents).toBe(200);
    expect(outlookOf(view([1, 900, 0], [2, 1000, 0]), "r", 2)).toEqual(FREE);
  });

  test("never more than they have (806/2015:39)", () => {
    expect(outlookOf(view([1, 900, 300], [2, 50, 100]), "r", 2)?.to_call_cents).toBe(50);
  });

  test("nothing for who has folded, is all in, or was not dealt in", () => {
    expect(outlookOf(view([1, 900, 300], [2, 50, 0, "folded"]), "r", 2)).toBeNull();
    expect(outlookOf(view([1, 900, 300], [2, 0, 100, "all_in"]), "r", 2)).toBeNull();
    expect(outlookOf(view([1, 900, 300]), "r", 2)).toBeNull();
    expect(outlookOf(view([1, 900, 300]), "r", undefined)).toBeNull();
    expect(outlookOf(null, "r", 1)).toBeNull();
  });
});

test("what is offered depends on whether a check would be free", () => {
  expect(preActionsOffered(FREE)).toEqual(["check_or_fold", "check", "call_any"]);
  expect(preActionsOffered(BET)).toEqual(["check_or_fold", "call", "call_any"]);
});

describe("holds", () => {
  test.each<[PreActionKind, Outlook, boolean]>([
    ["check_or_fold", BET, true],
    ["call_any", BET, true],
    ["check", BET, false],
    ["check", FREE, true],
  ])("%s, given where it was free, now %o: %s", (kind, now, holds) => {
    expect(stillHolds({ kind, outlook: FREE }, now)).toBe(holds);
  });

  test("a call holds for its amount alone", () => {
    expect(stillHolds({ kind: "call", outlook: BET }, BET)).toBe(true);
    expect(stillHolds({ kind: "call", outlook: BET }, { ...BET, to_call_cents: 400 })).toBe(false);
  });

  test.each<PreActionKind>(["check_or_fold", "check", "call", "call_any"])("%s ends with its betting round", (kind) => {
    expect(stillHolds({ kind, outlook: FREE }, { ...FREE, street: "STREET_TURN" })).toBe(false);
    expect(stillHolds({ kind, outlook: FREE }, { ...FREE, round_id: "next" })).toBe(false);
    expect(stillHolds({ kind, outlook: FREE }, null)).toBe(false);
  });
});

test.each<[PreActionKind, number, string | null]>([
  ["check_or_fold", 0, "ACTION_CHECK"],
  ["check_or_fold", 300, "ACTION_FOLD"],
  ["check", 0, "ACTION_CHECK"],
  ["check", 300, null],
  ["call", 300, "ACTION_CALL"],
  ["call", 400, null],
  ["call_any", 0, "ACTION_CHECK"],
  ["call_any", 400, "ACTION_CALL"],
])("%s with %i to call", (kind, to_call, action) => {
  expect(actionOf({ kind, outlook: BET }, { to_call_cents: String(to_call) })).toBe(action);
});
