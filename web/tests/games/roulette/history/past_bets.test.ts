// A past round from the platform's message: bets by place, and the wheel of the round.
import { beforeAll, expect, test, vi } from "vitest";
import type { PlayerRound } from "../../../../src/api/messages";

let pastBets: typeof import("../../../../src/games/roulette/history/past_bets").pastBets;
let playedWheel: typeof import("../../../../src/games/roulette/history/past_bets").playedWheel;

beforeAll(async () => {
  vi.stubGlobal("document", { documentElement: {} });
  ({ pastBets, playedWheel } = await import("../../../../src/games/roulette/history/past_bets"));
});

const BETS = "type.googleapis.com/feltro.roulette.v1.Bets" as const;
const RESULTS = "type.googleapis.com/feltro.roulette.v1.BetResults" as const;
const OUTCOME = "type.googleapis.com/feltro.roulette.v1.Outcome" as const;

type Bet = [place: string, staked: number, payout?: number, prize?: number];

function round(regulation: string, stakes: Bet[][], drawn?: { number: string; pocket: number }): PlayerRound {
  return {
    table_id: "french",
    regulation,
    mode: "MODE_REAL",
    session_id: "s",
    staked_cents: "0",
    cancelled_stakes: [],
    moves: [],
    payout_cents: "0",
    stakes: stakes.map((bets, no) => ({
      stake_id: String(no),
      amount_cents: "0",
      payout_cents: "0",
      bets: { "@type": BETS, bets: bets.map(([place, staked]) => ({ place, amount_cents: String(staked) })) },
      ...(drawn
        ? {
            results: {
              "@type": RESULTS,
              results: bets.map(([place, staked, payout = 0, prize = 0]) => ({
                place,
                amount_cents: String(staked),
                payout_cents: String(payout),
                prize_cents: String(prize),
              })),
            },
          }
        : {}),
    })),
    round: {
      round_id: "french.1",
      state: drawn ? "ROUND_STATE_SETTLED" : "ROUND_STATE_OPEN",
      void_reason: "",
      configuration_version: 1,
      draw_trigger: drawn ? "DRAW_TRIGGER_CLOCK" : "DRAW_TRIGGER_UNSPECIFIED",
      ...(drawn ? { outcome: { "@type": OUTCOME, colour: "COLOUR_BLACK" as const, ...drawn } } : {}),
    },
  };
}

test("several placements on a place are one bet, in the order of placing", () => {
  const bets = pastBets(
    round(
      "807/2015",
      [
        [
          ["17", 100, 3600, 3500],
          ["red", 500],
        ],
        [["17", 200, 7200, 7000]],
      ],
      { number: "17", pocket: 8 },
    ),
  );
  expect(bets).toEqual([
    { place: "17", staked: 300, payout: 10_800, prize: 10_500 },
    { place: "red", staked: 500, payout: 0, prize: 0 },
  ]);
});

test("an unfinished round has bets without payouts", () => {
  expect(pastBets(round("807/2015", [[["0-2-3", 100]]]))).toEqual([
    { place: "0-2-3", staked: 100, payout: null, prize: null },
  ]);
});

test("the wheel is the one on which the number lies in its pocket, whatever the table has today", () => {
  const order = (played: PlayerRound, wheel?: string) => {
    const pockets = playedWheel(played, wheel ? ({ rules: { "@type": "", wheel } } as never) : undefined);
    return [0, 1, 2, 18, 19].map((no) => pockets[no]?.number).join(" ");
  };
  expect(order(round("807/2015", [], { number: "17", pocket: 8 }))).toBe("0 32 15 10 5");
  expect(order(round("804/2015", [], { number: "27", pocket: 19 }), "WHEEL_AMERICAN_38")).toBe("0 28 9 1 27");
  expect(order(round("804/2015", [], { number: "27", pocket: 20 }), "WHEEL_AMERICAN_37")).toBe("0 28 9 1 00");
  expect(order(round("804/2015", [], { number: "28", pocket: 1 }), "WHEEL_AMERICAN_38")).toBe("0 28 9 1 00");
  expect(order(round("804/2015", [[["0-00", 100]]]))).toBe("0 28 9 1 00");
});
