// What hands were paid, put together from stakes by name.
import "../../../page";
import { describe, expect, test } from "vitest";
import {
  handResult,
  insuranceResult,
  parseStake,
  placesResult,
  verdict,
} from "../../../../src/games/blackjack/round/hand_results";
import { hand, outcome } from "../hands";

test.each([
  ["3", { place: 3, hand: 1, kind: "bet" }],
  ["3.2", { place: 3, hand: 2, kind: "split" }],
  ["3.1.double", { place: 3, hand: 1, kind: "double" }],
  ["7.14.double", { place: 7, hand: 14, kind: "double" }],
  ["3.insurance", { place: 3, hand: 0, kind: "insurance" }],
])("%s", (name, parts) => {
  expect(parseStake(name)).toEqual(parts);
});

test.each(["", "0", "8", "3.x", "red", "3.2.insured"])("%j is no stake", (name) => {
  expect(parseStake(name)).toBeNull();
});

test("a hand has its bet and its double, and a split hand its own", () => {
  const paid = outcome({ "3": [1000, 2000], "3.1.double": [1000, 2000], "3.2": [1000, 0], "3.insurance": [500, 1500] });
  expect(handResult(paid, hand(3, "8h 3c Td"))).toEqual({ staked_cents: 2000, payout_cents: 4000, verdict: "won" });
  expect(handResult(paid, hand(3, "8s Tc", { number: 2 }))).toEqual({
    staked_cents: 1000,
    payout_cents: 0,
    verdict: "lost",
  });
  expect(insuranceResult(paid, 3)).toEqual({ staked_cents: 500, payout_cents: 1500 });
  expect(insuranceResult(paid, 4)).toBeNull();
  expect(placesResult(paid, new Set([3]))).toEqual({ staked_cents: 3500, payout_cents: 5500 });
  expect(placesResult(paid, new Set([4]))).toEqual({ staked_cents: 0, payout_cents: 0 });
});

describe("verdicts", () => {
  test.each([
    ["blackjack", 2500, hand(1, "As Kd", { blackjack: true, state: "HAND_STATE_STOOD" })],
    ["blackjack", 2500, hand(1, "As Kd", { blackjack: true, state: "HAND_STATE_PAID" })],
    ["tie", 1000, hand(1, "As Kd", { blackjack: true, state: "HAND_STATE_STOOD" })],
    ["won", 2000, hand(1, "Ts 9d", { state: "HAND_STATE_STOOD" })],
    ["lost", 0, hand(1, "Ts 7d", { state: "HAND_STATE_STOOD" })],
    ["bust", 0, hand(1, "Ts 7d 9c", { state: "HAND_STATE_BUST" })],
    ["given_up", 500, hand(1, "Ts 6d", { state: "HAND_STATE_GIVEN_UP" })],
    ["special", 5000, hand(1, "6h 7h 8h", { state: "HAND_STATE_STOOD" })],
    ["special", 3000, hand(1, "7h 7s 7d", { state: "HAND_STATE_STOOD" })],
  ] as const)("%s for %i", (expected, payout, played) => {
    expect(handResult(outcome({ "1": [1000, payout] }), played).verdict).toBe(expected);
  });

  test("even money that was taken", () => {
    const offers = [{ place: 1, seat: 1, even_money: true, open: false, insurance_cents: "0", taken: true }];
    const played = hand(1, "As Kd", { blackjack: true, state: "HAND_STATE_PAID" });
    expect(handResult(outcome({ "1": [1000, 2000] }, { offers }), played).verdict).toBe("even_money");
  });
});

test("a payout below the stake is no win", () => {
  expect(verdict(0, 0)).toBe("unstaked");
  expect(verdict(1000, 0)).toBe("lost");
  expect(verdict(1000, 500)).toBe("less");
  expect(verdict(1000, 1000)).toBe("even");
  expect(verdict(1000, 1500)).toBe("won");
});
