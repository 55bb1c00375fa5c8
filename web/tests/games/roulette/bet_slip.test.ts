// What is put down, what counts, what goes back: the slip against a platform that is played by hand.
import "./page";
import { beforeEach, describe, expect, test } from "vitest";
import type { Balance } from "../../../src/api/messages";
import { Refusal } from "../../../src/api/refusal";
import { BetSlip, type Desk } from "../../../src/games/roulette/bet_slip";
import { type Laid, plus, sum } from "../../../src/games/roulette/bets";
import { layoutOf } from "./layouts";

const ROUND = "french.7";

interface Asked {
  method: string;
  params: { round_id?: string; request_id?: string; bets?: { place: string; amount_cents: string }[] };
  answer(result: unknown): Promise<void>;
  refuse(reason: string, facts?: Record<string, string>): Promise<void>;
}

class Platform {
  asked: Asked[] = [];
  said: Refusal[] = [];
  free: { cents: number; version: string } | null = { cents: 100_000, version: "1" };
  balances: Balance[] = [];
  private timers: (() => void)[] = [];
  private names = 0;

  readonly desk = {
    call: (method: string, params: Asked["params"]) =>
      new Promise((resolve, reject) => {
        this.asked.push({
          method,
          params,
          answer: async (result) => {
            resolve(result);
            await settled();
          },
          refuse: async (reason, facts = {}) => {
            reject(new Refusal(reason, facts, "", reason));
            await settled();
          },
        });
      }),
    requestId: () => `command-${++this.names}`,
    newer: (balance: Balance) => this.balances.push(balance),
    free: () => this.free,
    say: (refusal: Refusal) => this.said.push(refusal),
    later: (_: number, then: () => void) => {
      this.timers.push(then);
      return () => {
        this.timers = this.timers.filter((timer) => timer !== then);
      };
    },
  } as unknown as Desk;

  get last(): Asked {
    const last = this.asked.at(-1);
    if (!last) throw new Error("nothing was asked");
    return last;
  }

  timePasses(): void {
    for (const timer of this.timers.splice(0)) timer();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
}

function bets(laid: Record<string, number>): Laid {
  return sum(Object.entries(laid));
}

function message(laid: Record<string, number>) {
  return { bets: Object.entries(laid).map(([place, amount]) => ({ place, amount_cents: String(amount) })) };
}

/** The answer to a placement. */
function placed(stake: Record<string, number>, onFelt = stake) {
  return { stake: { stake_id: "s", bets: message(stake) }, on_felt: message(onFelt) };
}

let platform: Platform;
let slip: BetSlip;

beforeEach(() => {
  platform = new Platform();
  slip = new BetSlip("french", layoutOf("WHEEL_FRENCH", 200_000), platform.desk);
  slip.opened(ROUND, false);
});

const felt = () => Object.fromEntries(slip.felt.value);
const pending = () => Object.fromEntries(slip.pending.value);
const reasons = () => platform.said.map(({ reason }) => reason);

describe("putting chips down", () => {
  test("a click lies at once as pending, and counts when the platform says so", async () => {
    expect(slip.put("17", 100)).toBe(true);
    expect([felt(), pending()]).toEqual([{}, { 17: 100 }]);
    await settled();
    expect(platform.last).toMatchObject({
      method: "RouletteService.PlaceBets",
      params: { round_id: ROUND, request_id: "command-1", bets: [{ place: "17", amount_cents: "100" }] },
    });
    expect(pending()).toEqual({ 17: 100 });
    await platform.last.answer(placed({ 17: 100 }));
    expect([felt(), pending()]).toEqual([{ 17: 100 }, {}]);
  });

  test("clicks while a command is under way go together with the next one, under a name of its own", async () => {
    slip.put("17", 100);
    await settled();
    slip.put("17", 200);
    slip.put("red", 500);
    slip.put("17", 100);
    await settled();
    expect(platform.asked).toHaveLength(1);
    expect(pending()).toEqual({ 17: 400, red: 500 });
    await platform.last.answer(placed({ 17: 100 }));
    expect(platform.asked).toHaveLength(2);
    expect(platform.last.params).toMatchObject({
      request_id: expect.not.stringMatching("command-1$"),
      bets: [
        { place: "17", amount_cents: "300" },
        { place: "red", amount_cents: "500" },
      ],
    });
    await platform.last.answer(placed({ 17: 300, red: 500 }, { 17: 400, red: 500 }));
    expect([felt(), pending()]).toEqual([{ 17: 400, red: 500 }, {}]);
    expect(platform.asked).toHaveLength(2);
  });

  test("what was refused goes back, with its reason", async () => {
    slip.put("17", 100);
    await settled();
    await platform.last.refuse("BETTING_CLOSED", { round_id: ROUND });
    expect([felt(), pending(), reasons()]).toEqual([{}, {}, ["BETTING_CLOSED"]]);
  });

  test("a call bet lies as its components", async () => {
    slip.put("orphelins", 100);
    expect(pending()).toEqual({ 1: 100, "6-9": 100, "14-17": 100, "17-20": 100, "31-34": 100 });
  });

  test("the account after a bet is told", async () => {
    slip.put("17", 100);
    await settled();
    const balance = { account_id: "a", version: "2" } as Balance;
    await platform.last.answer({
      stake: { stake_id: "s", balance, bets: message({ 17: 100 }) },
      on_felt: message({ 17: 100 }),
    });
    expect(platform.balances).toEqual([balance]);
  });
});

describe("a click that cannot count never looks as if it did", () => {
  test.each([
    ["BELOW_MINIMUM", "17", 50],
    ["ABOVE_MAXIMUM", "17", 3100],
    ["ODD_CENTS", "double-dozen-1-2", 101],
    ["BET_NOT_OFFERED", "0-1-2-3-4", 100],
  ])("%s", async (reason, place, amount) => {
    expect(slip.put(place, amount)).toBe(false);
    await settled();
    expect([pending(), reasons(), platform.asked]).toEqual([{}, [reason], []]);
  });

  test("the maximum is for all that lies there, pending or not", async () => {
    slip.put("17", 2000);
    expect(slip.put("17", 1000)).toBe(true);
    expect(slip.put("17", 100)).toBe(false);
    expect(platform.said[0]?.facts).toMatchObject({ place: "17", maximum_cents: "3000" });
  });

  test("a component of a call bet above its maximum refuses all of it", () => {
    slip.put("17-20", 6000);
    expect(slip.put("orphelins", 100)).toBe(false);
    expect(pending()).toEqual({ "17-20": 6000 });
  });

  test("the table's own cap", () => {
    platform.free = null;
    for (let n = 0; n < 5; n += 1) slip.put("red", 10_000);
    for (let n = 0; n < 5; n += 1) slip.put("black", 10_000);
    for (let n = 0; n < 5; n += 1) slip.put("even", 10_000);
    for (let n = 0; n < 5; n += 1) slip.put("odd", 10_000);
    expect(slip.put("low", 100)).toBe(false);
    expect(reasons()).toEqual(["ABOVE_TOTAL"]);
  });

  test("money that is not there, what is queued included", async () => {
    platform.free = { cents: 300, version: "1" };
    slip.put("red", 200);
    expect(slip.put("black", 200)).toBe(false);
    expect(platform.said[0]?.facts).toEqual({ free_cents: "100", needed_cents: "200" });
    await settled();
    // The account has been charged for it, and says so before the answer comes.
    platform.free = { cents: 100, version: "2" };
    expect(slip.put("black", 100)).toBe(true);
  });

  test("no round takes bets", () => {
    slip.closed();
    expect(slip.put("17", 100)).toBe(false);
    expect(reasons()).toEqual(["BETTING_CLOSED"]);
  });
});

describe("taking back", () => {
  beforeEach(async () => {
    slip.put("17", 100);
    slip.put("red", 500);
    await settled();
    await platform.last.answer(placed({ 17: 100, red: 500 }));
  });

  test("undo takes back the last click alone, then the one before", async () => {
    slip.undo();
    await settled();
    expect(platform.last).toMatchObject({
      method: "RouletteService.TakeBackBets",
      params: { round_id: ROUND, bets: [{ place: "red", amount_cents: "500" }] },
    });
    await platform.last.answer({ on_felt: message({ 17: 100 }) });
    expect(felt()).toEqual({ 17: 100 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "17", amount_cents: "100" }]);
  });

  test("what has not been sent yet goes back without asking", async () => {
    slip.put("5", 100);
    await settled();
    slip.put("6", 100);
    slip.undo();
    expect(pending()).toEqual({ 5: 100 });
    expect(platform.asked).toHaveLength(2);
  });

  test("undo waits for the placement that is under way, and takes that back", async () => {
    slip.put("5", 100);
    await settled();
    slip.undo();
    await settled();
    expect(platform.last.method).toBe("RouletteService.PlaceBets");
    await platform.last.answer(placed({ 5: 100 }, { 17: 100, red: 500, 5: 100 }));
    expect(platform.last).toMatchObject({
      method: "RouletteService.TakeBackBets",
      params: { bets: [{ place: "5", amount_cents: "100" }] },
    });
  });

  test("clear names everything that lies there", async () => {
    slip.clear();
    await settled();
    expect(platform.last.params.bets).toEqual([
      { place: "17", amount_cents: "100" },
      { place: "red", amount_cents: "500" },
    ]);
    await platform.last.answer({ on_felt: message({}) });
    expect([felt(), slip.undoBar.value]).toEqual([{}, "nothing"]);
  });

  test("a place gives back its last chip, whatever was clicked since", async () => {
    slip.takeOff("17");
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "17", amount_cents: "100" }]);
    await platform.last.answer({ on_felt: message({ red: 500 }) });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "red", amount_cents: "500" }]);
  });

  test("refused: it still lies there", async () => {
    slip.undo();
    await settled();
    await platform.last.refuse("BETTING_CLOSED");
    expect([felt(), reasons()]).toEqual([{ 17: 100, red: 500 }, ["BETTING_CLOSED"]]);
  });
});

test("where the table forbids it nothing is taken back", async () => {
  slip.restore(ROUND, bets({ 17: 100 }), [], true);
  expect(slip.undoBar.value).toBe("forbidden");
  slip.undo();
  slip.clear();
  slip.takeOff("17");
  await settled();
  expect(platform.asked).toEqual([]);
});

describe("repeat and double", () => {
  test("repeat puts down what the platform remembers, and undo takes that back in one", async () => {
    slip.repeat();
    await settled();
    expect(platform.last).toMatchObject({ method: "RouletteService.RepeatBets", params: { round_id: ROUND } });
    await platform.last.answer(placed({ 17: 100, red: 500 }));
    expect(felt()).toEqual({ 17: 100, red: 500 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toHaveLength(2);
  });

  test("nothing to repeat: told, and not offered again until a round was played", async () => {
    slip.repeat();
    await settled();
    await platform.last.refuse("NOTHING_TO_REPEAT");
    expect([slip.repeatBar.value, reasons()]).toEqual(["none_before", ["NOTHING_TO_REPEAT"]]);
    slip.put("17", 100);
    await settled();
    await platform.last.answer(placed({ 17: 100 }));
    expect(slip.repeatBar.value).toBe("none_before");
  });

  test("one who has never played here is offered no repeat until a round of his is over", async () => {
    slip.neverPlayed();
    slip.put("17", 100);
    await settled();
    await platform.last.answer(placed({ 17: 100 }));
    slip.ownPlaced(sum([["17", 100]]));
    expect(slip.repeatBar.value).toBe("none_before");
    slip.clear();
    await settled();
    await platform.last.answer(placed({}));
    slip.ownTakenBack(sum([["17", 100]]));
    expect(slip.repeatBar.value).toBe("none_before");
    slip.ownPlaced(sum([["17", 100]]));
    slip.closed();
    slip.opened("french.8", false);
    // He was asked for, and found late, what is no longer so.
    slip.neverPlayed();
    expect(slip.repeatBar.value).toBeNull();
  });

  test("a round in which all bets were taken back leaves nothing to repeat", () => {
    slip.neverPlayed();
    slip.closed();
    slip.opened("french.8", false);
    expect(slip.repeatBar.value).toBe("none_before");
  });

  test("double puts the same again everywhere", async () => {
    slip.put("17", 100);
    slip.put("red", 500);
    expect(slip.double()).toBe(true);
    expect(pending()).toEqual({ 17: 200, red: 1000 });
  });

  test("double is all or none, and says beforehand that it cannot be", () => {
    expect(slip.doubleBar.value).toBe("nothing");
    slip.put("17", 2000);
    slip.put("red", 500);
    expect(slip.doubleBar.value).toBe("limit");
    expect(slip.double()).toBe(false);
    expect(pending()).toEqual({ 17: 2000, red: 500 });
  });
});

describe("the platform's own account of the felt", () => {
  test("echoes of one's own commands change nothing, before or after the answer", async () => {
    slip.put("17", 100);
    await settled();
    slip.ownPlaced(bets({ 17: 100 }));
    expect(felt()).toEqual({});
    await platform.last.answer(placed({ 17: 100 }));
    expect(felt()).toEqual({ 17: 100 });

    slip.put("red", 100);
    await settled();
    await platform.last.answer(placed({ red: 100 }, { 17: 100, red: 100 }));
    slip.ownPlaced(bets({ red: 100 }));
    platform.timePasses();
    expect(felt()).toEqual({ 17: 100, red: 100 });
  });

  test("stakes are taken back whole and the rest put down again: only the end counts", async () => {
    slip.put("17", 100);
    slip.put("red", 500);
    await settled();
    slip.ownPlaced(bets({ 17: 100, red: 500 }));
    await platform.last.answer(placed({ 17: 100, red: 500 }));
    slip.undo();
    await settled();
    slip.ownTakenBack(bets({ 17: 100, red: 500 }));
    slip.ownPlaced(bets({ 17: 100 }));
    await platform.last.answer({ on_felt: message({ 17: 100 }) });
    platform.timePasses();
    expect(felt()).toEqual({ 17: 100 });
  });

  test("bets from another page of the same player are shown, and can be undone", async () => {
    slip.ownPlaced(bets({ 5: 300 }));
    expect(felt()).toEqual({ 5: 300 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "5", amount_cents: "300" }]);
  });

  test("an answer that never came: the events say what counts", async () => {
    slip.put("17", 100);
    await settled();
    slip.ownPlaced(bets({ 17: 100 }));
    await platform.last.refuse("");
    expect(felt()).toEqual({});
    platform.timePasses();
    expect(felt()).toEqual({ 17: 100 });
  });

  test("when betting closes, what the events have told counts, and what was not sent goes back", async () => {
    slip.put("17", 100);
    await settled();
    slip.put("red", 100);
    slip.ownPlaced(bets({ 17: 100 }));
    slip.closed();
    expect([felt(), reasons()]).toEqual([{ 17: 100 }, ["BETTING_CLOSED"]]);
    await platform.last.answer(placed({ 17: 100 }));
    expect([felt(), pending()]).toEqual([{ 17: 100 }, {}]);
    expect(platform.asked).toHaveLength(1);
  });

  test("an answer that comes in the next round does not touch it", async () => {
    slip.put("17", 100);
    await settled();
    slip.closed();
    slip.opened("french.8", false);
    await platform.last.answer(placed({ 17: 100 }));
    expect([felt(), pending()]).toEqual([{}, {}]);
  });

  test("a reload finds the stakes again, each to be undone by itself", async () => {
    slip.restore(ROUND, bets({ 17: 300, red: 100 }), [bets({ 17: 100, red: 100 }), bets({ 17: 200 })], false);
    expect(felt()).toEqual({ 17: 300, red: 100 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "17", amount_cents: "200" }]);
  });

  test("a round without a result gives everything back", () => {
    slip.ownPlaced(bets({ 17: 100 }));
    slip.closed();
    slip.returned();
    expect(felt()).toEqual({});
  });
});

test("the ball is launched when everything put down has been answered", async () => {
  slip.put("17", 100);
  void slip.spin();
  await settled();
  expect(platform.asked.map(({ method }) => method)).toEqual(["RouletteService.PlaceBets"]);
  await platform.last.answer(placed({ 17: 100 }));
  expect(platform.last).toMatchObject({ method: "RouletteService.Spin", params: { round_id: ROUND } });
});

test("sums are sums", () => {
  expect(plus(bets({ 17: 100 }), bets({ 17: 50, red: 1 }))).toEqual(bets({ 17: 150, red: 1 }));
});
