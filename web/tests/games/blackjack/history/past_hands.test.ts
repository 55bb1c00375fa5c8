// A past round of one player: their hands, decisions and stakes (805/2015:31).
import "../../../page";
import { expect, test } from "vitest";
import type { PlayerRound } from "../../../../src/api/messages";
import { pastHands } from "../../../../src/games/blackjack/history/past_hands";
import { hand, outcome } from "../hands";

const stake = (stake_id: string, name: string, staked: number, payout: number) => ({
  stake_id,
  amount_cents: String(staked),
  payout_cents: String(payout),
  bets: { bets: [{ place: name, amount_cents: String(staked) }] },
  results: { results: [{ place: name, amount_cents: String(staked), payout_cents: String(payout), prize_cents: "0" }] },
});
const move = (position: number, place: number, decision: string, acted_by: string, insurance = 0) => ({
  position,
  seat: place,
  move: { place, decision: `DECISION_${decision}`, insurance_cents: String(insurance) },
  acted_by: `ACTED_BY_${acted_by}`,
  stake_id: "",
  made_at: "2026-11-19T10:00:00Z",
});

const ROUND = {
  round: {
    state: "ROUND_STATE_SETTLED",
    outcome: outcome(
      { "3": [1000, 2000], "3.2": [1000, 0] },
      { hands: [hand(1, "Ts 9d"), hand(3, "8h 3c Td"), hand(3, "8s 9c", { number: 2 })] },
    ),
  },
  stakes: [
    stake("a", "3", 500, 1000),
    stake("d", "3.insurance", 500, 0),
    stake("c", "3.2", 1000, 0),
    stake("b", "3", 500, 1000),
  ],
  moves: [
    move(1, 3, "INSURE", "PLAYER", 500),
    move(2, 1, "STAND", "PLAYER"),
    move(3, 3, "SPLIT", "PLAYER"),
    move(4, 3, "STAND", "CLOCK"),
  ],
} as unknown as PlayerRound;

test("own hands only; chips on one place are one bet; stakes by place, then insurance", () => {
  const past = pastHands(ROUND);
  expect(past.hands.map(({ place, number }) => `${place}.${number}`)).toEqual(["3.1", "3.2"]);
  expect(past.stakes.map(({ name, staked, payout }) => [name, staked, payout])).toEqual([
    ["3", 1000, 2000],
    ["3.2", 1000, 0],
    ["3.insurance", 500, 0],
  ]);
});

test("own decisions, with on whose word each was made", () => {
  expect(
    pastHands(ROUND).decisions.map(({ decision, acted_by, insurance_cents }) => [decision, acted_by, insurance_cents]),
  ).toEqual([
    ["DECISION_INSURE", "ACTED_BY_PLAYER", 500],
    ["DECISION_SPLIT", "ACTED_BY_PLAYER", 0],
    ["DECISION_STAND", "ACTED_BY_CLOCK", 0],
  ]);
});

test("a round that is not settled pays nothing yet", () => {
  const open = { ...ROUND, stakes: ROUND.stakes.map(({ results: _, ...rest }) => rest) } as PlayerRound;
  expect(pastHands(open).stakes[0]?.payout).toBeNull();
});
