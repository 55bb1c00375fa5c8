// What the player is asked, by the platform's word; one command at a time, and never twice for one turn.
import "../../../page";
import { signal } from "@preact/signals";
import { describe, expect, test, vi } from "vitest";
import { Refusal } from "../../../../src/api/refusal";
import { Decisions, questionsIn } from "../../../../src/games/blackjack/felt/decisions";
import type { OwnView } from "../../../../src/games/blackjack/messages/messages";

function view(...options: [place: number, decision: string, cost?: number][]): OwnView {
  return {
    options: options.map(([place, decision, cost = 0]) => ({
      place,
      decision: `DECISION_${decision}`,
      cost_cents: String(cost),
    })),
  } as unknown as OwnView;
}

describe("questions", () => {
  test("every decision of a hand with its cost (805/2015:24)", () => {
    const [question] = questionsIn(view([3, "DRAW"], [3, "DOUBLE", 1000], [3, "GIVE_UP"]), "r:1");
    expect(question).toEqual({
      place: 3,
      key: "r:1:3",
      offer: null,
      possible: [
        { decision: "DECISION_DRAW", cost_cents: 0 },
        { decision: "DECISION_DOUBLE", cost_cents: 1000 },
        { decision: "DECISION_GIVE_UP", cost_cents: 0 },
      ],
    });
  });

  test("offers of several places are asked one after the other", () => {
    const own = view([5, "EVEN_MONEY"], [5, "DECLINE"], [2, "INSURE", 500], [2, "DECLINE"]);
    expect(questionsIn(own, "r:1").map(({ place, offer }) => [place, offer])).toEqual([
      [2, "insurance"],
      [5, "even_money"],
    ]);
  });

  test("an insurance that the money does not pay for can only be declined", () => {
    expect(questionsIn(view([2, "DECLINE"]), "r:1")[0]?.offer).toBe("insurance");
  });

  test("nobody is asked anything", () => {
    expect(questionsIn(null, "r:1")).toEqual([]);
  });
});

function felt(act = vi.fn(async () => ({}) as never)) {
  const ready = signal(true);
  const own = signal<OwnView | null>(view([1, "DRAW"], [1, "STAND"]));
  const turn = signal({ turn: 1, seats: [1] });
  const refused = vi.fn();
  const table = {
    act,
    own: { view: own },
    turn,
    snapshot: signal({ round: { round_id: "r" } }),
    state: signal("playing"),
  };
  return { decisions: new Decisions(table as never, ready, refused), ready, own, turn, act, refused };
}

test("nothing is asked before the cards lie", () => {
  const { decisions, ready } = felt();
  ready.value = false;
  expect(decisions.question.value).toBeNull();
  ready.value = true;
  expect(decisions.question.value?.place).toBe(1);
});

test("a decision is sent once, and its question is gone until the next turn", async () => {
  const { decisions, act, turn } = felt();
  await Promise.all([decisions.decide("DECISION_DRAW"), decisions.decide("DECISION_DRAW")]);
  expect(act).toHaveBeenCalledTimes(1);
  expect(act).toHaveBeenCalledWith({
    "@type": "type.googleapis.com/feltro.blackjack.v1.Move",
    place: 1,
    decision: "DECISION_DRAW",
    insurance_cents: "0",
  });
  expect(decisions.question.value).toBeNull();
  turn.value = { turn: 2, seats: [1] };
  expect(decisions.question.value?.key).toBe("r:2:1");
});

test("what is not possible is not sent", async () => {
  const { decisions, act } = felt();
  await decisions.decide("DECISION_SPLIT");
  expect(act).not.toHaveBeenCalled();
});

test("a refusal is told, and the player may decide again", async () => {
  const refusal = new Refusal("DECISION_ILLEGAL", {}, "", "no");
  const { decisions, refused } = felt(vi.fn(async () => Promise.reject(refusal)));
  await decisions.decide("DECISION_DRAW");
  expect(refused).toHaveBeenCalledWith(refusal);
  expect(decisions.acting.value).toBe(false);
  expect(decisions.question.value?.place).toBe(1);
});
