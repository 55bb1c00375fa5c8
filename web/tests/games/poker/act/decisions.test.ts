// What the player is asked, by the platform's word; one command at a time, and what was decided before the turn.
import "../../../page";
import { signal } from "@preact/signals";
import { describe, expect, test, vi } from "vitest";
import { Refusal } from "../../../../src/api/refusal";
import { keyAction } from "../../../../src/games/poker/act/action_keys";
import { Decisions } from "../../../../src/games/poker/act/decisions";
import type { Move } from "../../../../src/games/poker/messages/messages";

interface Stand {
  street?: string;
  total?: number;
  bets?: [own: number, other: number];
  stack?: number;
}

function round({ street = "STREET_FLOP", total = 600, bets = [0, 0], stack = 5000 }: Stand = {}) {
  const seat = (number: number, bet: number, left: number) => ({
    seat: number,
    stack_cents: String(left),
    bet_cents: String(bet),
    folded: false,
    all_in: false,
    cards: [],
  });
  const view = { street, total_cents: String(total), seats: [seat(1, bets[0], stack), seat(2, bets[1], 5000)] };
  return { round_id: "r", view, turn: { turn: 1, seats: [2] } };
}

function table(act = vi.fn(async (_: Move) => ({}) as never)) {
  const ready = signal(true);
  const own = signal<unknown>(null);
  const asked = signal(false);
  const turn = signal({ turn: 1, seats: [2] });
  const snapshot = signal<unknown>({ round: round() });
  const live = {
    act,
    own: { view: own, asked },
    ownSeat: signal({ seat: 1 }),
    turn,
    snapshot,
    state: signal("playing"),
    unit: signal("MODE_REAL"),
  };
  const decisions = new Decisions(live as never, ready, () => 100);
  /** The player's turn comes. */
  const ask = (to_call: number, min_to: number, max_to: number, number = 2) => {
    turn.value = { turn: number, seats: [1] };
    own.value = {
      legal: { seat: 1, to_call_cents: String(to_call), min_to_cents: String(min_to), max_to_cents: String(max_to) },
    };
    asked.value = true;
  };
  return { decisions, act, ask, ready, own, asked, turn, snapshot, live };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));
const sent = (act: ReturnType<typeof vi.fn>) => act.mock.calls.map(([move]) => [move.action, move.to_cents]);

describe("in turn", () => {
  test("nothing is asked before everything lies on the screen", () => {
    const { decisions, ready, ask } = table();
    ready.value = false;
    ask(0, 100, 5000);
    expect(decisions.question.value).toBeNull();
    ready.value = true;
    expect(decisions.question.value).toMatchObject({ to_call_cents: 0, min_to_cents: 100, max_to_cents: 5000 });
    expect(decisions.question.value?.opens).toBe(true);
  });

  test("the first amount of a raise is the least", () => {
    const { decisions, ask, snapshot } = table();
    snapshot.value = { round: round({ bets: [100, 300] }) };
    ask(200, 500, 5100);
    expect(decisions.question.value?.opens).toBe(false);
    expect(decisions.question.value?.raise?.cents.value).toBe(500);
    decisions.choosePart("pot");
    expect(decisions.question.value?.raise?.cents.value).toBe(1100);
  });

  test("without bounds there is no raise", () => {
    const { decisions, ask, act } = table();
    ask(400, 0, 0);
    expect(decisions.question.value?.raise).toBeNull();
    decisions.raise();
    expect(act).not.toHaveBeenCalled();
  });

  test("a call that takes everything says so", () => {
    const { decisions, ask, snapshot } = table();
    snapshot.value = { round: round({ bets: [0, 900], stack: 400 }) };
    ask(400, 0, 0);
    expect(decisions.question.value?.call_is_all_in).toBe(true);
  });

  test("a decision is sent once, and the question is gone until the next turn", async () => {
    const { decisions, ask, act } = table();
    ask(0, 100, 5000);
    decisions.checkOrCall();
    decisions.checkOrCall();
    decisions.raise();
    await settled();
    decisions.checkOrCall();
    expect(sent(act)).toEqual([["ACTION_CHECK", "0"]]);
    expect(decisions.question.value).toBeNull();
    ask(300, 600, 5000, 4);
    decisions.checkOrCall();
    await settled();
    expect(sent(act)).toEqual([
      ["ACTION_CHECK", "0"],
      ["ACTION_CALL", "0"],
    ]);
  });

  test("an amount outside of the bounds is not sent", async () => {
    const { decisions, ask, act } = table();
    ask(0, 100, 5000);
    const raise = decisions.question.value?.raise;
    if (raise) raise.text.value = "50,01";
    decisions.raise();
    expect(act).not.toHaveBeenCalled();
    if (raise) raise.text.value = "12,5";
    decisions.raise();
    await settled();
    expect(sent(act)).toEqual([["ACTION_RAISE", "1250"]]);
  });

  test("a fold is asked once where a check is free", async () => {
    const { decisions, ask, act } = table();
    ask(0, 100, 5000);
    decisions.fold();
    expect(decisions.foldAsked.value).toBe(true);
    expect(act).not.toHaveBeenCalled();
    decisions.fold();
    await settled();
    expect(sent(act)).toEqual([["ACTION_FOLD", "0"]]);
    ask(300, 600, 5000, 4);
    decisions.fold();
    await settled();
    expect(act).toHaveBeenCalledTimes(2);
  });

  test("a refusal shows the bounds, and the player decides again", async () => {
    const facts = { minimum_cents: "600", maximum_cents: "4000" };
    const act = vi.fn(async (_: Move) => ({}) as never);
    act.mockRejectedValueOnce(new Refusal("BELOW_MINIMUM", facts, "", ""));
    const { decisions, ask } = table(act);
    ask(0, 100, 5000);
    decisions.raise();
    await settled();
    expect(decisions.refused.value).toMatch(/6,00.€ a 40,00.€/);
    expect(decisions.question.value).not.toBeNull();
    decisions.raise();
    await settled();
    expect(decisions.refused.value).toBe("");
    expect(act).toHaveBeenCalledTimes(2);
  });
});

describe("before the turn", () => {
  test("it is sent when the turn comes, once", async () => {
    const { decisions, ask, act } = table();
    const end = decisions.follow();
    decisions.giveBefore("check_or_fold");
    expect(decisions.preAction.value?.kind).toBe("check_or_fold");
    ask(0, 100, 5000);
    await settled();
    expect(sent(act)).toEqual([["ACTION_CHECK", "0"]]);
    ask(300, 600, 5000, 4);
    await settled();
    expect(act).toHaveBeenCalledTimes(1);
    end();
  });

  test("a call of another amount is cancelled, and does not come back", async () => {
    const { decisions, ask, act, snapshot } = table();
    const end = decisions.follow();
    snapshot.value = { round: round({ bets: [0, 300] }) };
    decisions.giveBefore("call");
    snapshot.value = { round: round({ bets: [0, 900] }) };
    expect(decisions.preAction.value).toBeNull();
    snapshot.value = { round: round({ bets: [0, 300] }) };
    expect(decisions.preAction.value).toBeNull();
    ask(300, 600, 5000);
    await settled();
    expect(act).not.toHaveBeenCalled();
    end();
  });

  test("the turn itself may bring another amount", async () => {
    const { decisions, ask, act } = table();
    const end = decisions.follow();
    decisions.giveBefore("check");
    ask(700, 1400, 5000);
    await settled();
    expect(act).not.toHaveBeenCalled();
    expect(decisions.question.value).not.toBeNull();
    end();
  });

  test("giving it again takes it back", () => {
    const { decisions } = table();
    decisions.giveBefore("check");
    decisions.giveBefore("call_any");
    expect(decisions.preAction.value?.kind).toBe("call_any");
    decisions.giveBefore("call_any");
    expect(decisions.preAction.value).toBeNull();
  });

  test("nothing can be given in the turn, nor after folding", () => {
    const { decisions, ask } = table();
    ask(0, 100, 5000);
    decisions.giveBefore("check");
    expect(decisions.preAction.value).toBeNull();
    expect(decisions.outlook.value).toBeNull();
  });
});

test("every key has its own action", () => {
  expect(keyAction("f")).toEqual({ press: ["act-fold"] });
  expect(keyAction("C")).toEqual({ press: ["act-check", "act-call"] });
  expect(keyAction("r")).toEqual({ press: ["act-raise"] });
  expect(keyAction("1")).toEqual({ press: ["part-third"] });
  expect(keyAction("5")).toEqual({ press: ["part-max"] });
  expect(keyAction("ArrowUp")).toEqual({ steps: 1 });
  expect(keyAction("ArrowDown")).toEqual({ steps: -1 });
  for (const key of ["6", "0", "x", "Enter", " "]) expect(keyAction(key)).toBeNull();
});
