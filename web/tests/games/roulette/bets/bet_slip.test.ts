// Placing, accepting and taking back bets, against a platform whose answers the test gives.
import "../../../page";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Balance } from "../../../../src/api/messages";
import { Refusal } from "../../../../src/api/refusal";
import { addBets, type PlacedBets, sumBets } from "../../../../src/bets/bets";
import { RouletteSlip, type RouletteSlipPorts } from "../../../../src/games/roulette/bets/roulette_slip";
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
  } as unknown as RouletteSlipPorts;

  get last(): Asked {
    const last = this.asked.at(-1);
    if (!last) throw new Error("nothing was asked");
    return last;
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
function placed(stake: Record<string, number>, onFelt = stake, stake_id = `stake-${++stakesMade}`) {
  return { stake: { stake_id, bets: message(stake) }, on_felt: message(onFelt) };
}

let stakesMade = 0;

/** The platform's answer to a take-back: what lies on the felt, the stakes that are gone, and what stays of others. */
function takenBack(
  onFelt: Record<string, number>,
  cancelled_stake_ids: readonly string[],
  rests: Record<string, Record<string, number>> = {},
) {
  const reduced_stakes = Object.entries(rests).map(([stake_id, rest]) => ({ stake_id, bets: message(rest) }));
  return { on_felt: message(onFelt), cancelled_stake_ids, reduced_stakes };
}

let platform: Platform;
let slip: RouletteSlip;

beforeEach(() => {
  platform = new Platform();
  slip = new RouletteSlip("french", layoutOf("WHEEL_FRENCH", 200_000), platform.ports);
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
    await platform.last.answer(placed({ 17: 100, red: 500 }, { 17: 100, red: 500 }, "a"));
  });

  test("undo takes back the last click only, then the one before", async () => {
    slip.undo();
    await settled();
    expect(platform.last).toMatchObject({
      method: "RouletteService.CancelBets",
      params: { round_id: ROUND, bets: [{ place: "red", amount_cents: "500" }] },
    });
    await platform.last.answer(takenBack({ 17: 100 }, [], { a: { 17: 100 } }));
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
    await platform.last.answer(takenBack({}, ["a"]));
    expect([accepted(), slip.undoBlocked.value]).toEqual([{}, "nothing"]);
  });

  test("a place gives back its last chip, whatever was clicked since", async () => {
    slip.takeBackFrom("17");
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "17", amount_cents: "100" }]);
    await platform.last.answer(takenBack({ red: 500 }, [], { a: { red: 500 } }));
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
  slip.restore(ROUND, [{ stake_id: "a", bets: bets({ 17: 100 }) }], true);
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
    await platform.last.answer(placed({ 17: 100 }, { 17: 100 }, "a"));
    slip.betsPlaced("a", bets({ 17: 100 }));
    expect(slip.repeatBlocked.value).toBe("no_earlier_bets");
    slip.clear();
    await settled();
    await platform.last.answer(takenBack({}, ["a"]));
    slip.betsTakenBack("a", bets({ 17: 100 }));
    expect(slip.repeatBlocked.value).toBe("no_earlier_bets");
    slip.betsPlaced("b", bets({ 17: 100 }));
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
  /** Every state that was shown since: accepted and pending bets together. */
  function watchShown(): Record<string, number>[] {
    const shown: Record<string, number>[] = [];
    onTestFinished(slip.allBets.subscribe((all) => shown.push(Object.fromEntries(all))));
    return shown;
  }

  async function place(stake_id: string, laid: Record<string, number>, onFelt = laid): Promise<void> {
    for (const [at, value] of Object.entries(laid)) slip.placeChip(at, value);
    await settled();
    slip.betsPlaced(stake_id, bets(laid));
    await platform.last.answer(placed(laid, onFelt, stake_id));
  }

  test("an event before its answer: the bet is shown once, as accepted, and each click has its own undo", async () => {
    slip.placeChip("17", 100);
    slip.placeChip("red", 500);
    await settled();
    const shown = watchShown();
    slip.betsPlaced("a", bets({ 17: 100, red: 500 }));
    expect([accepted(), pending()]).toEqual([{ 17: 100, red: 500 }, {}]);
    await platform.last.answer(placed({ 17: 100, red: 500 }, { 17: 100, red: 500 }, "a"));
    expect([accepted(), pending()]).toEqual([{ 17: 100, red: 500 }, {}]);
    for (const state of shown) expect(state).toEqual({ 17: 100, red: 500 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "red", amount_cents: "500" }]);
    await platform.last.refuse("");
    slip.placeChip("17", 100);
    await settled();
    expect([accepted(), pending()]).toEqual([{ 17: 100, red: 500 }, { 17: 100 }]);
  });

  test("an event after its answer changes nothing", async () => {
    slip.placeChip("17", 100);
    await settled();
    const shown = watchShown();
    await platform.last.answer(placed({ 17: 100 }, { 17: 100 }, "a"));
    slip.betsPlaced("a", bets({ 17: 100 }));
    expect([accepted(), pending()]).toEqual([{ 17: 100 }, {}]);
    for (const state of shown) expect(state).toEqual({ 17: 100 });
  });

  test("the same bets under another id are another stake", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.betsPlaced("other-page", bets({ 17: 100 }));
    await platform.last.answer(placed({ 17: 100 }, { 17: 200 }, "a"));
    expect([accepted(), pending()]).toEqual([{ 17: 200 }, {}]);
    slip.betsPlaced("a", bets({ 17: 100 }));
    expect(accepted()).toEqual({ 17: 200 });
  });

  test("chips that the events have shown count against the balance until it is known anew", async () => {
    platform.free = { cents: 300, version: "1" };
    slip.placeChip("red", 200);
    await settled();
    slip.betsPlaced("a", bets({ red: 200 }));
    expect(slip.placeChip("black", 200)).toBe(false);
    platform.free = { cents: 100, version: "2" };
    expect(slip.placeChip("black", 100)).toBe(true);
  });

  test("bets from another page of the same player are shown at once, and can be undone", async () => {
    slip.betsPlaced("other-page", bets({ 5: 300 }));
    expect(accepted()).toEqual({ 5: 300 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "5", amount_cents: "300" }]);
  });

  test("two pages of one player: each shows the other's bets, also during and after its own commands", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.betsPlaced("other-1", bets({ red: 500 }));
    expect([accepted(), pending()]).toEqual([{ red: 500 }, { 17: 100 }]);
    await platform.last.answer(placed({ 17: 100 }, { 17: 100, red: 500 }, "a"));
    expect(accepted()).toEqual({ 17: 100, red: 500 });
    // An answer may know more than the events so far, and the next one come between an answer and its event.
    slip.placeChip("even", 100);
    await settled();
    await platform.last.answer(placed({ even: 100 }, { 17: 100, red: 500, even: 100, black: 200 }, "b"));
    slip.betsPlaced("a", bets({ 17: 100 }));
    expect(accepted()).toEqual({ 17: 100, red: 500, even: 100 });
    slip.betsPlaced("other-2", bets({ black: 200 }));
    expect(accepted()).toEqual({ 17: 100, red: 500, even: 100, black: 200 });
    slip.betsTakenBack("other-1", bets({ red: 500 }));
    expect(accepted()).toEqual({ 17: 100, even: 100, black: 200 });
    slip.betsPlaced("b", bets({ even: 100 }));
    expect(accepted()).toEqual({ 17: 100, even: 100, black: 200 });
  });

  test("what another page has taken back already stays away when the answer comes", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.betsPlaced("a", bets({ 17: 100 }));
    slip.betsTakenBack("a", bets({ 17: 100 }));
    slip.betsPlaced("other-page", bets({ 17: 200 }));
    await platform.last.answer(placed({ 17: 100 }, { 17: 200 }, "a"));
    expect([accepted(), pending()]).toEqual([{ 17: 200 }, {}]);
    slip.restore(ROUND, [{ stake_id: "a", bets: bets({ 17: 100 }) }], false);
    expect(accepted()).toEqual({});
  });

  test("without an answer the events decide", async () => {
    slip.placeChip("17", 100);
    await settled();
    await platform.last.refuse("");
    expect([accepted(), pending()]).toEqual([{}, {}]);
    slip.betsPlaced("a", bets({ 17: 100 }));
    expect([accepted(), pending()]).toEqual([{ 17: 100 }, {}]);
  });

  describe("a part of a stake is taken back", () => {
    const whole = { 5: 300, 17: 100, red: 500 };
    const rest = { 5: 300, 17: 100 };
    const answer = (onFelt: Record<string, number> = rest, stays: Record<string, number> = rest) =>
      platform.last.answer(takenBack(onFelt, [], { a: stays }));
    const event = () => slip.betsTakenBack("a", bets({ red: 500 }), bets(rest));

    beforeEach(async () => {
      await place("a", whole);
      slip.undo();
      await settled();
    });

    /** The next undo takes back the click before. */
    async function expectNextUndo(at: string, value: number): Promise<void> {
      slip.undo();
      await settled();
      expect(platform.last.params.bets).toEqual([{ place: at, amount_cents: String(value) }]);
    }

    test.each(["before", "after"])("the event comes %s the answer: each state is shown once", async (when) => {
      const shown = watchShown();
      if (when === "before") event();
      await answer();
      if (when === "after") event();
      expect(shown).toEqual([whole, rest]);
      await expectNextUndo("17", 100);
    });

    test("two take-backs and a click, all answered before the first event", async () => {
      await answer();
      await expectNextUndo("17", 100);
      await answer({ 5: 300 }, { 5: 300 });
      slip.placeChip("black", 200);
      await settled();
      await platform.last.answer(placed({ black: 200 }, { 5: 300, black: 200 }, "d"));
      const shown = watchShown();
      event();
      slip.betsTakenBack("a", bets({ 17: 100 }), bets({ 5: 300 }));
      slip.betsPlaced("d", bets({ black: 200 }));
      expect(shown).toEqual([{ 5: 300, black: 200 }]);
      await expectNextUndo("black", 200);
      await platform.last.answer(takenBack({ 5: 300 }, ["d"]));
      slip.betsTakenBack("d", bets({ black: 200 }));
      await expectNextUndo("5", 300);
    });

    test("bets of another page appear meanwhile", async () => {
      slip.betsPlaced("other-1", bets({ black: 200 }));
      expect(accepted()).toEqual({ ...whole, black: 200 });
      await answer({ ...rest, black: 200 });
      expect(accepted()).toEqual({ ...rest, black: 200 });
      slip.betsPlaced("other-2", bets({ even: 100 }));
      event();
      expect(accepted()).toEqual({ ...rest, black: 200, even: 100 });
    });

    test.each(["before", "after"])(
      "another page takes something back of the same stake; the answer comes %s the events",
      async (when) => {
        if (when === "before") await answer();
        event();
        slip.betsTakenBack("a", bets({ 17: 100 }), bets({ 5: 300 }));
        if (when === "after") await answer();
        expect(accepted()).toEqual({ 5: 300 });
        slip.betsPlaced("c", bets({ even: 100 }));
        expect(accepted()).toEqual({ 5: 300, even: 100 });
      },
    );

    test("a refused take-back leaves everything as it is", async () => {
      await platform.last.refuse("NOT_ON_FELT");
      expect([accepted(), reasons()]).toEqual([whole, ["NOT_ON_FELT"]]);
    });

    test("a snapshot that includes it already: the answer takes nothing back again", async () => {
      slip.restore(ROUND, [{ stake_id: "a", bets: bets(rest) }], false);
      await answer();
      expect(accepted()).toEqual(rest);
      await expectNextUndo("17", 100);
    });

    test("an event with all bets includes it already: the answer takes nothing back again", async () => {
      slip.betsPlaced("", bets({ ...rest, red: 200 }));
      await answer({ ...rest, red: 200 });
      expect(accepted()).toEqual({ ...rest, red: 200 });
    });

    test("betting closes meanwhile: the events decide", async () => {
      event();
      slip.bettingClosed();
      expect(accepted()).toEqual(rest);
      await answer();
      expect(accepted()).toEqual(rest);
    });

    test("betting closes before the take-back reaches the platform: the bets stay", async () => {
      slip.bettingClosed();
      await platform.last.refuse("BETTING_CLOSED");
      expect([accepted(), reasons()]).toEqual([whole, ["BETTING_CLOSED"]]);
    });
  });

  test.each(["before", "after"])(
    "a whole stake is taken back, and then another; the answer comes %s the event",
    async (when) => {
      await place("a", { 17: 100 });
      await place("b", { red: 500 }, { 17: 100, red: 500 });
      slip.undo();
      await settled();
      if (when === "before") await platform.last.answer(takenBack({ 17: 100 }, ["b"]));
      slip.betsTakenBack("b", bets({ red: 500 }));
      expect(accepted()).toEqual({ 17: 100 });
      slip.betsTakenBack("a", bets({ 17: 100 }));
      expect(accepted()).toEqual({});
      if (when === "after") await platform.last.answer(takenBack({ 17: 100 }, ["b"]));
      expect(accepted()).toEqual({});
    },
  );

  test("taking back an older chip keeps the newer ones on the felt, each with its own undo", async () => {
    await place("a", { 17: 100 });
    await place("b", { red: 500, even: 100 }, { 17: 100, red: 500, even: 100 });
    const shown = watchShown();
    slip.takeBackFrom("17");
    await settled();
    slip.betsTakenBack("a", bets({ 17: 100 }));
    await platform.last.answer(takenBack({ red: 500, even: 100 }, ["a"]));
    expect(shown).toEqual([
      { 17: 100, red: 500, even: 100 },
      { red: 500, even: 100 },
    ]);
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "even", amount_cents: "100" }]);
  });

  test("when betting closes the events decide, and unsent clicks are dropped", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.placeChip("red", 100);
    slip.betsPlaced("a", bets({ 17: 100 }));
    slip.bettingClosed();
    expect([accepted(), pending(), reasons()]).toEqual([{ 17: 100 }, {}, ["BETTING_CLOSED"]]);
    await platform.last.answer(placed({ 17: 100 }, { 17: 100 }, "a"));
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
    const stakes = [
      { stake_id: "a", bets: bets({ 17: 100, red: 100 }) },
      { stake_id: "b", bets: bets({ 17: 200 }) },
    ];
    slip.restore(ROUND, stakes, false);
    expect(accepted()).toEqual({ 17: 300, red: 100 });
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "17", amount_cents: "200" }]);
  });

  test("a void round returns everything", () => {
    slip.betsPlaced("a", bets({ 17: 100 }));
    slip.bettingClosed();
    slip.roundVoided();
    expect(accepted()).toEqual({});
  });
});

describe("a snapshot after lost events", () => {
  const stake = (stake_id: string, laid: Record<string, number>) => ({ stake_id, bets: bets(laid) });

  test("holds all stakes: what it does not name was taken back, and what it names is not counted again", async () => {
    slip.betsPlaced("gone", bets({ red: 500 }));
    slip.restore(ROUND, [stake("a", { 17: 100 })], false);
    expect(accepted()).toEqual({ 17: 100 });
    slip.betsPlaced("a", bets({ 17: 100 }));
    expect(accepted()).toEqual({ 17: 100 });
  });

  test("includes a placement whose answer is yet to come: its chips are shown once", async () => {
    slip.placeChip("17", 100);
    slip.placeChip("red", 500);
    await settled();
    slip.restore(ROUND, [stake("a", { 17: 100, red: 500 })], false);
    expect([accepted(), pending()]).toEqual([{ 17: 100, red: 500 }, {}]);
    await platform.last.answer(placed({ 17: 100, red: 500 }, { 17: 100, red: 500 }, "a"));
    expect([accepted(), pending()]).toEqual([{ 17: 100, red: 500 }, {}]);
  });

  test("is older than a placement: its answer adds it", async () => {
    slip.placeChip("17", 100);
    await settled();
    slip.restore(ROUND, [stake("a", { red: 500 })], false);
    await platform.last.answer(placed({ 17: 100 }, { 17: 100, red: 500 }, "b"));
    expect([accepted(), pending()]).toEqual([{ 17: 100, red: 500 }, {}]);
  });

  test("keeps the undo of each click", async () => {
    slip.placeChip("17", 100);
    slip.placeChip("red", 500);
    await settled();
    await platform.last.answer(placed({ 17: 100, red: 500 }, { 17: 100, red: 500 }, "a"));
    slip.restore(ROUND, [stake("a", { 17: 100, red: 500 })], false);
    slip.undo();
    await settled();
    expect(platform.last.params.bets).toEqual([{ place: "red", amount_cents: "500" }]);
  });

  describe("that was too large: an event without a stake id holds all bets", () => {
    test("it replaces what was known, and does not add to it", () => {
      slip.betsPlaced("a", bets({ 17: 100 }));
      slip.betsPlaced("", bets({ 17: 100, red: 500 }));
      expect(accepted()).toEqual({ 17: 100, red: 500 });
      slip.betsPlaced("", bets({ 17: 100 }));
      expect(accepted()).toEqual({ 17: 100 });
    });

    test("it keeps the ids if it says what is known", async () => {
      slip.restore(ROUND, [stake("a", { 17: 100, red: 500 })], false);
      slip.betsPlaced("", bets({ 17: 100, red: 500 }));
      slip.undo();
      await settled();
      expect(platform.last.params.bets).toHaveLength(2);
    });

    test("stakes of it are cancelled, and others placed, by their ids", () => {
      slip.betsPlaced("", bets({ 17: 300, red: 500 }));
      slip.betsTakenBack("a", bets({ 17: 100, red: 500 }));
      expect(accepted()).toEqual({ 17: 200 });
      slip.betsPlaced("b", bets({ black: 100 }));
      expect(accepted()).toEqual({ 17: 200, black: 100 });
    });

    test.each([
      [
        { 17: 100, red: 500 },
        { 17: 100, red: 500 },
      ],
      [{ red: 500 }, { 17: 100, red: 500 }],
    ])("whether %o includes a placement under way, its answer says", async (whole, onFelt) => {
      slip.placeChip("17", 100);
      await settled();
      slip.betsPlaced("", bets(whole));
      await platform.last.answer(placed({ 17: 100 }, onFelt, "a"));
      expect([accepted(), pending()]).toEqual([onFelt, {}]);
    });

    test("each place has its own undo", async () => {
      slip.betsPlaced("", bets({ 17: 300, red: 500 }));
      slip.undo();
      await settled();
      expect(platform.last.params.bets).toEqual([{ place: "red", amount_cents: "500" }]);
      await platform.last.answer(takenBack({ 17: 300 }, [], { a: { 17: 300 } }));
      expect(accepted()).toEqual({ 17: 300 });
      slip.betsTakenBack("a", bets({ red: 500 }), bets({ 17: 300 }));
      expect(accepted()).toEqual({ 17: 300 });
    });
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
