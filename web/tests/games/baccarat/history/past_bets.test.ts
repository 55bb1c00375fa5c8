// The bets of a past round, several placements on a chance as one, with prizes and commission.
import "../../../page";
import { expect, test } from "vitest";
import type { PlayerRound } from "../../../../src/api/messages";
import { pastBets } from "../../../../src/games/baccarat/history/past_bets";

const round = (...stakes: object[]) => ({ stakes }) as unknown as PlayerRound;
const result = (place: string, amount: number, payout: number, commission = 0) => ({
  place,
  amount_cents: String(amount),
  payout_cents: String(payout),
  prize_cents: String(Math.max(0, payout - amount)),
  commission_cents: String(commission),
});

test("settled bets, chance by chance", () => {
  const bets = pastBets(
    round(
      { results: { results: [result("banca", 1000, 1950, 50), result("tie", 100, 0)] } },
      {
        results: { results: [result("banca", 200, 390, 10)] },
      },
    ),
  );
  expect(bets).toEqual([
    { place: "banca", staked: 1200, payout: 2340, prize: 1140, commission: 60 },
    { place: "tie", staked: 100, payout: 0, prize: 0, commission: 0 },
  ]);
});

test("of a round that is not settled, only what was staked is known", () => {
  expect(pastBets(round({ bets: { bets: [{ place: "ponto", amount_cents: "300" }] } }))).toEqual([
    { place: "ponto", staked: 300, payout: null, prize: null, commission: null },
  ]);
});
