// Placing, accepting and taking back bets, against a platform whose answers the test gives.
import "../../../page";
import { beforeEach, describe, expect, test } from "vitest";
import type { Balance } from "../../../../src/api/messages";
import { Refusal } from "../../../../src/api/refusal";
import { BetSlip, type BetSlipPorts } from "../../../../src/games/roulette/bets/bet_slip";
import { addBets, type PlacedBets, sumBets } from "../../../../src/games/roulette/bets/bets";
import { layoutOf } from "../layouts";

const ROUND = "french.7";

interface Asked {
  method: string;
  params: { round_id?: string; request_id?: string; bets?: { place: string; amount_cents: string }[] };
  answer(result: unknown): Promise<void>;
  refuse(reason: string, facts?: Record<string, string>): Promise<void>;
}

class Platform {
  asked: Asked[] = [];
  refusals: Refusal[] = [];
  free: { cents: number; version: string } | null = { cents: 100_000, version: "1" };
  balances: Balance[] = [];
  private timers: (() => void)[] = [];
  private names = 0;

  readonly ports = {
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
    updateBalance: (balance: Balance) => this.balances.push(balance),
    freeBalance: () => this.free,
    refused: (refusal: Refusal) => this.refusals.push(refusal),
    after: (_: number, then: () => void) => {
      this.timers.push(then);
      return () => {
        this.timers = this.timers.filter((timer) => timer !== then);
      };
    },
  } as unknown as BetSlipPorts;

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

function bets(laid: Record<string, number>): PlacedBets {
  return sumBets(Object.entries(laid));
}

function message(laid: Record<string, number>) {
  return { bets: Object.entries(laid).map(([place, amount]) => ({ place, amount_cents: String(amount) })) };
}

/** The platform's answer to a placement. */
function placed(stake: Record<string, number>, onFelt = stake) {
  return { stake: { stake_id: "s", bets: message(stake) }, on_felt: message(onFelt) };
}

let platform: Platform;
let slip: BetSlip;

beforeEach(() => {
  platform = new Platform();
  slip = new BetSlip("french", layoutOf("WHEEL_FRENCH", 200_000), platform.ports);
  slip.roundOpened(ROUND, false);
});

const accepted = () => Object.fromEntries(slip.accepted.value);
const pending = () => Object.fromEntries(slip.pending.value);
const reasons = () => platform.refusals.map(({ reason }) => reason);

describe("placing chips", () => {
  test("a click is pending at once, and accepted when the platform says so", async () => {
    expect(slip.placeChip("17", 100)).toBe(true);
    expect([accepted(), pending()]).toEqual([{}, { 17: 100 }]);
    await settled();
    expect(platform.last).toMatchObject({
      method: "RouletteService.PlaceBets",
      params: { round_id: ROUND, request_id: "command-1", bets: [{ place: "17", amount_cents: "100" }] },
    });
    expect(pending()).toEqual({ 17: 100 });
    await platform.last.answer(placed({ 17: 100 }));
    expect([accepted(), pending()]).toEqual([{ 17: 100 }, {}]);
  });

  test("clicks during a command go together with the next one, under its own request id", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.placeChip("17", 200);
    slip.placeChip("red", 500);
    slip.placeChip("17", 100);
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
    expect([accepted(), pending()]).toEqual([{ 17: 400, red: 500 }, {}]);
    expect(platform.asked).toHaveLength(2);
  });

  test("a refused bet disappears, and its reason is reported", async () => {
    slip.placeChip("17", 100);
    await settled();
    await platform.last.refuse("BETTING_CLOSED", { round_id: ROUND });
    expect([accepted(), pending(), reasons()]).toEqual([{}, {}, ["BETTING_CLOSED"]]);
  });

  test("a call bet is placed as its components", async () => {
    slip.placeChip("orphelins", 100);
    expect(pending()).toEqual({ 1: 100, "6-9": 100, "14-17": 100, "17-20": 100, "31-34": 100 });
  });

  test("takes over the balance from the answer", async () => {
    slip.placeChip("17", 100);
    await settled();
    const balance = { account_id: "a", version: "2" } as Balance;
    await platform.last.answer({
      stake: { stake_id: "s", balance, bets: message({ 17: 100 }) },
      on_felt: message({ 17: 100 }),
    });
    expect(platform.balances).toEqual([balance]);
  });
});

describe("a bet that would be refused is never shown", () => {
  test.each([
    ["BELOW_MINIMUM", "17", 50],
    ["ABOVE_MAXIMUM", "17", 3100],
    ["ODD_CENTS", "double-dozen-1-2", 101],
    ["BET_NOT_OFFERED", "0-1-2-3-4", 100],
  ])("%s", async (reason, place, amount) => {
    expect(slip.placeChip(place, amount)).toBe(false);
    await settled();
    expect([pending(), reasons(), platform.asked]).toEqual([{}, [reason], []]);
  });

  test("the maximum of a place includes pending bets", async () => {
    slip.placeChip("17", 2000);
    expect(slip.placeChip("17", 1000)).toBe(true);
    expect(slip.placeChip("17", 100)).toBe(false);
    expect(platform.refusals[0]?.facts).toMatchObject({ place: "17", maximum_cents: "3000" });
  });

  test("a component above its place's maximum refuses the whole call bet", () => {
    slip.placeChip("17-20", 6000);
    expect(slip.placeChip("orphelins", 100)).toBe(false);
    expect(pending()).toEqual({ "17-20": 6000 });
  });

  test("the table's total maximum", () => {
    platform.free = null;
    for (let n = 0; n < 5; n += 1) slip.placeChip("red", 10_000);
    for (let n = 0; n < 5; n += 1) slip.placeChip("black", 10_000);
    for (let n = 0; n < 5; n += 1) slip.placeChip("even", 10_000);
    for (let n = 0; n < 5; n += 1) slip.placeChip("odd", 10_000);
    expect(slip.placeChip("low", 100)).toBe(false);
    expect(reasons()).toEqual(["ABOVE_TOTAL"]);
  });

  test("the balance, less queued bets", async () => {
    platform.free = { cents: 300, version: "1" };
    slip.placeChip("red", 200);
    expect(slip.placeChip("black", 200)).toBe(false);
    expect(platform.refusals[0]?.facts).toEqual({ free_cents: "100", needed_cents: "200" });
    await settled();
    // The account has been charged, and says so before the answer comes.
    platform.free = { cents: 100, version: "2" };
    expect(slip.placeChip("black", 100)).toBe(true);
  });

  test("without an open round", () => {
    slip.bettingClosed();
    expect(slip.placeChip("17", 100)).toBe(false);
    expect(reasons()).toEqual(["BETTING_CLOSED"]);
  });
});

describe("taking back", () => {
  beforeEach(async () => {
    slip.placeChip("17", 100);
    slip.placeChip("red", 500);
    await settled();
    await platform.last.answer(placed({ 17: 100, red: 500 }));
  });

  test("undo takes back the last click only, then the one before", async () => {
    slip.undo();
    await settled();
    expect(platform.last).toMatchObject({
      method: "RouletteService.CancelBets",
      params: { round_id: ROUND, bets: [{ place: "red", amount_cents: "500" }] },
    });
    await platform.last.answer({ on_felt: message({ 17: 100 }) });
    expect(accepted()).toEqual({ 17: 100 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "17", amount_cents: "100" }]);
  });

  test("an unsent click is undone without a command", async () => {
    slip.placeChip("5", 100);
    await settled();
    slip.placeChip("6", 100);
    slip.undo();
    expect(pending()).toEqual({ 5: 100 });
    expect(platform.asked).toHaveLength(2);
  });

  test("undo waits for the placement under way, and takes that back", async () => {
    slip.placeChip("5", 100);
    await settled();
    slip.undo();
    await settled();
    expect(platform.last.method).toBe("RouletteService.PlaceBets");
    await platform.last.answer(placed({ 5: 100 }, { 17: 100, red: 500, 5: 100 }));
    expect(platform.last).toMatchObject({
      method: "RouletteService.CancelBets",
      params: { bets: [{ place: "5", amount_cents: "100" }] },
    });
  });

  test("clear takes back all bets by name", async () => {
    slip.clear();
    await settled();
    expect(platform.last.params.bets).toEqual([
      { place: "17", amount_cents: "100" },
      { place: "red", amount_cents: "500" },
    ]);
    await platform.last.answer({ on_felt: message({}) });
    expect([accepted(), slip.undoBlocked.value]).toEqual([{}, "nothing"]);
  });

  test("a place gives back its last chip, whatever was clicked since", async () => {
    slip.takeBackFrom("17");
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "17", amount_cents: "100" }]);
    await platform.last.answer({ on_felt: message({ red: 500 }) });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "red", amount_cents: "500" }]);
  });

  test("a refused undo leaves the bets as they are", async () => {
    slip.undo();
    await settled();
    await platform.last.refuse("BETTING_CLOSED");
    expect([accepted(), reasons()]).toEqual([{ 17: 100, red: 500 }, ["BETTING_CLOSED"]]);
  });
});

test("nothing is taken back where the table forbids it", async () => {
  slip.restore(ROUND, bets({ 17: 100 }), [], true);
  expect(slip.undoBlocked.value).toBe("forbidden");
  slip.undo();
  slip.clear();
  slip.takeBackFrom("17");
  await settled();
  expect(platform.asked).toEqual([]);
});

describe("repeat and double", () => {
  test("repeat places what the platform remembers, and one undo takes it back", async () => {
    slip.repeat();
    await settled();
    expect(platform.last).toMatchObject({ method: "RouletteService.RepeatBets", params: { round_id: ROUND } });
    await platform.last.answer(placed({ 17: 100, red: 500 }));
    expect(accepted()).toEqual({ 17: 100, red: 500 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toHaveLength(2);
  });

  test("without earlier bets: reported, and not offered again before a round was played", async () => {
    slip.repeat();
    await settled();
    await platform.last.refuse("NOTHING_TO_REPEAT");
    expect([slip.repeatBlocked.value, reasons()]).toEqual(["no_earlier_bets", ["NOTHING_TO_REPEAT"]]);
    slip.placeChip("17", 100);
    await settled();
    await platform.last.answer(placed({ 17: 100 }));
    expect(slip.repeatBlocked.value).toBe("no_earlier_bets");
  });

  test("a new player is offered no repeat until a round with own bets is over", async () => {
    slip.noEarlierRounds();
    slip.placeChip("17", 100);
    await settled();
    await platform.last.answer(placed({ 17: 100 }));
    slip.betsPlaced(sumBets([["17", 100]]));
    expect(slip.repeatBlocked.value).toBe("no_earlier_bets");
    slip.clear();
    await settled();
    await platform.last.answer(placed({}));
    slip.betsTakenBack(sumBets([["17", 100]]));
    expect(slip.repeatBlocked.value).toBe("no_earlier_bets");
    slip.betsPlaced(sumBets([["17", 100]]));
    slip.bettingClosed();
    slip.roundOpened("french.8", false);
    // The answer to an earlier question is outdated.
    slip.noEarlierRounds();
    expect(slip.repeatBlocked.value).toBeNull();
  });

  test("a round whose bets were all taken back leaves nothing to repeat", () => {
    slip.noEarlierRounds();
    slip.bettingClosed();
    slip.roundOpened("french.8", false);
    expect(slip.repeatBlocked.value).toBe("no_earlier_bets");
  });

  test("double places every bet again", async () => {
    slip.placeChip("17", 100);
    slip.placeChip("red", 500);
    expect(slip.double()).toBe(true);
    expect(pending()).toEqual({ 17: 200, red: 1000 });
  });

  test("double is all or nothing, and says beforehand why it is not possible", () => {
    expect(slip.doubleBlocked.value).toBe("nothing");
    slip.placeChip("17", 2000);
    slip.placeChip("red", 500);
    expect(slip.doubleBlocked.value).toBe("limit");
    expect(slip.double()).toBe(false);
    expect(pending()).toEqual({ 17: 2000, red: 500 });
  });
});

describe("what the platform has accepted", () => {
  test("the events of own commands change nothing, before or after the answer", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.betsPlaced(bets({ 17: 100 }));
    expect(accepted()).toEqual({});
    await platform.last.answer(placed({ 17: 100 }));
    expect(accepted()).toEqual({ 17: 100 });

    slip.placeChip("red", 100);
    await settled();
    await platform.last.answer(placed({ red: 100 }, { 17: 100, red: 100 }));
    slip.betsPlaced(bets({ red: 100 }));
    platform.timePasses();
    expect(accepted()).toEqual({ 17: 100, red: 100 });
  });

  test("an undo that replaces whole stakes shows only its final state", async () => {
    slip.placeChip("17", 100);
    slip.placeChip("red", 500);
    await settled();
    slip.betsPlaced(bets({ 17: 100, red: 500 }));
    await platform.last.answer(placed({ 17: 100, red: 500 }));
    slip.undo();
    await settled();
    slip.betsTakenBack(bets({ 17: 100, red: 500 }));
    slip.betsPlaced(bets({ 17: 100 }));
    await platform.last.answer({ on_felt: message({ 17: 100 }) });
    platform.timePasses();
    expect(accepted()).toEqual({ 17: 100 });
  });

  test("bets from another page of the same player are shown, and can be undone", async () => {
    slip.betsPlaced(bets({ 5: 300 }));
    expect(accepted()).toEqual({ 5: 300 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "5", amount_cents: "300" }]);
  });

  test("without an answer the events decide", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.betsPlaced(bets({ 17: 100 }));
    await platform.last.refuse("");
    expect(accepted()).toEqual({});
    platform.timePasses();
    expect(accepted()).toEqual({ 17: 100 });
  });

  test("when betting closes the events decide, and unsent clicks are dropped", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.placeChip("red", 100);
    slip.betsPlaced(bets({ 17: 100 }));
    slip.bettingClosed();
    expect([accepted(), reasons()]).toEqual([{ 17: 100 }, ["BETTING_CLOSED"]]);
    await platform.last.answer(placed({ 17: 100 }));
    expect([accepted(), pending()]).toEqual([{ 17: 100 }, {}]);
    expect(platform.asked).toHaveLength(1);
  });

  test("an answer that comes in the next round does not change it", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.bettingClosed();
    slip.roundOpened("french.8", false);
    await platform.last.answer(placed({ 17: 100 }));
    expect([accepted(), pending()]).toEqual([{}, {}]);
  });

  test("a reload finds the stakes again, each with its own undo", async () => {
    slip.restore(ROUND, bets({ 17: 300, red: 100 }), [bets({ 17: 100, red: 100 }), bets({ 17: 200 })], false);
    expect(accepted()).toEqual({ 17: 300, red: 100 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "17", amount_cents: "200" }]);
  });

  test("a void round returns everything", () => {
    slip.betsPlaced(bets({ 17: 100 }));
    slip.bettingClosed();
    slip.roundVoided();
    expect(accepted()).toEqual({});
  });
});

test("the ball is launched when all placements have been answered", async () => {
  slip.placeChip("17", 100);
  void slip.spin();
  await settled();
  expect(platform.asked.map(({ method }) => method)).toEqual(["RouletteService.PlaceBets"]);
  await platform.last.answer(placed({ 17: 100 }));
  expect(platform.last).toMatchObject({ method: "RouletteService.Spin", params: { round_id: ROUND } });
});

test("adding bets adds the amounts by place", () => {
  expect(addBets(bets({ 17: 100 }), bets({ 17: 50, red: 1 }))).toEqual(bets({ 17: 150, red: 1 }));
});
