// What a player may do about their cave and their presence, and what leaving means.
import "../../../page";
import { describe, expect, test } from "vitest";
import type { CaveAtSeat, OwnCave, TableSnapshot } from "../../../../src/api/messages";
import { caveOffers, isHandUnderWay, standingInHand } from "../../../../src/games/poker/cave/cave_offers";
import { secondsUntil } from "../../../../src/games/poker/cave/fill_countdown";

const RULES = { big_blind_cents: "100" };
const OWN: OwnCave = {
  cave_cents: "5000",
  waiting_cents: "0",
  buy_in_min_cents: "1",
  buy_in_max_cents: "5000",
  time_bank_ms: 30_000,
  rests_left: 1,
};

function at(standing: string): CaveAtSeat {
  return { seat: 1, cave_cents: "5000", standing: `CAVE_STANDING_${standing}`, disconnected: false } as CaveAtSeat;
}

describe("presence", () => {
  test.each([
    ["PLAYING", { sitOut: true, comeBack: false, rest: true, post: false }],
    ["WAITING", { sitOut: true, comeBack: false, rest: true, post: false }],
    ["AWAY", { sitOut: false, comeBack: true, rest: false, post: false }],
    ["RESTING", { sitOut: false, comeBack: true, rest: false, post: false }],
    ["LEAVING", { sitOut: false, comeBack: false, rest: false, post: false }],
  ])("%s", (standing, offers) => expect(caveOffers(OWN, at(standing), RULES)).toMatchObject(offers));

  test("no rest is offered when none is left (806/2015:68)", () => {
    expect(caveOffers({ ...OWN, rests_left: 0 }, at("PLAYING"), RULES).rest).toBe(false);
  });

  test("a big blind can be posted only where the table offers it", () => {
    const rules = { ...RULES, entry_mode: "ENTRY_MODE_WAIT_OR_VOLUNTARY_POST" } as const;
    expect(caveOffers(OWN, at("WAITING"), rules).post).toBe(true);
    expect(caveOffers(OWN, at("AWAY"), rules).post).toBe(true);
    expect(caveOffers(OWN, at("PLAYING"), rules).post).toBe(false);
  });
});

describe("buying in", () => {
  test("the bounds are the platform's", () => {
    expect(caveOffers(OWN, at("PLAYING"), RULES)).toMatchObject({
      kind: "top_up",
      buyIn: { minimum_cents: 1, maximum_cents: 5000 },
    });
    expect(caveOffers({ ...OWN, buy_in_min_cents: "0", buy_in_max_cents: "0" }, at("PLAYING"), RULES).buyIn).toBeNull();
    expect(caveOffers(null, undefined, RULES).buyIn).toBeNull();
    expect(caveOffers(OWN, at("LEAVING"), RULES).buyIn).toBeNull();
  });

  test("a player who has just sat down brings the cave inicial", () => {
    const own = { ...OWN, cave_cents: "0" };
    expect(caveOffers(own, at("SHORT"), RULES)).toMatchObject({ kind: "initial", sitOut: false, comeBack: false });
  });

  test("a cave below the minimum bet has to be filled, one at it does not (806/2015:15, C-29)", () => {
    const short = { ...OWN, cave_cents: "99", fill_by: "2026-11-18T12:01:00Z" };
    expect(caveOffers(short, at("SHORT"), RULES).kind).toBe("refill");
    expect(caveOffers({ ...short, cave_cents: "100" }, at("PLAYING"), RULES).kind).toBe("top_up");
    // What waits for the end of the hand counts.
    expect(caveOffers({ ...short, waiting_cents: "5000" }, at("SHORT"), RULES).kind).toBe("top_up");
  });

  test("the time left never counts below nothing", () => {
    const now = Date.parse("2026-11-18T12:00:30.500Z");
    expect(secondsUntil("2026-11-18T12:01:00Z", now)).toBe(30);
    expect(secondsUntil("2026-11-18T12:00:00Z", now)).toBe(0);
  });
});

describe("leaving", () => {
  const table = (phase: string, seat: object) =>
    ({
      phase,
      round: { round_id: "r", view: { seats: [{ seat: 1, folded: false, all_in: false, ...seat }] } },
    }) as never;

  test.each([
    ["PHASE_PLAYING", {}, "in"],
    ["PHASE_PLAYING", { all_in: true }, "all_in"],
    ["PHASE_PLAYING", { folded: true }, "none"],
    ["PHASE_PLAYING", { seat: 4 }, "none"],
    ["PHASE_RESULT_SHOWN", {}, "none"],
  ])("%s, %o: %s", (phase, seat, standing) => expect(standingInHand(table(phase, seat), 1)).toBe(standing));

  test("a hand is under way only while it is played", () => {
    expect(isHandUnderWay({ phase: "PHASE_PLAYING" } as TableSnapshot)).toBe(true);
    expect(isHandUnderWay({ phase: "PHASE_IDLE" } as TableSnapshot)).toBe(false);
    expect(isHandUnderWay(null)).toBe(false);
  });
});
