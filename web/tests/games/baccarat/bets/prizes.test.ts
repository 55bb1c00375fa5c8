// Prizes and commission, by the worked examples of the rulebook (812/2015:22 to 26).
import "../../../page";
import { expect, test } from "vitest";
import { sumBets } from "../../../../src/bets/bets";
import {
  commissionCents,
  prizeCents,
  returnedChances,
  winningChances,
} from "../../../../src/games/baccarat/bets/prizes";
import type { SpecificRules } from "../../../../src/games/baccarat/layout/messages";
import { layoutOf } from "../layouts";
import { outcomeOfCards } from "../outcomes";

const FIVE: Partial<SpecificRules> = {};
const BOTH: Partial<SpecificRules> = { commission: "COMMISSION_HALF_ON_SCORE", half_scores: [5, 6] };
const SIX: Partial<SpecificRules> = { commission: "COMMISSION_HALF_ON_SCORE", half_scores: [6] };

test.each([
  ["P1", "4c 5d", "Ts 7h", FIVE, { ponto: 1000 }, 1000, 0],
  ["P2", "2h 3s", "3c 5d", FIVE, { banca: 2000 }, 1900, 100],
  ["P5", "2c 3s 9c", "Kd 3h 2d", FIVE, { banca: 1000 }, 950, 50],
  ["P6", "2c 3s 9c", "Kd 3h 2d", BOTH, { banca: 1000 }, 500, 500],
  ["P7", "2c 3s 9c", "Kd 3h 2d", SIX, { banca: 1000 }, 1000, 0],
  ["P8", "Ac 3d Tc", "Ks 6h", SIX, { banca: 1000 }, 500, 500],
  ["P9", "Kc 6h", "2d 4s", FIVE, { ponto: 1000, banca: 400, tie: 500 }, 4000, 0],
  ["P12", "Ks Kh", "2c 6d", FIVE, { ponto: 500, "ponto-pair": 100 }, 1100, 0],
  ["P16", "9c 9d", "9h 9s", FIVE, { tie: 100, "ponto-pair": 100, "banca-pair": 100, ponto: 1000 }, 3000, 0],
  ["P18", "2h 3s", "3c 5d", FIVE, { banca: 1010 }, 960, 50],
])("%s", (_, ponto, banca, rules, bets, prize, commission) => {
  const layout = layoutOf(rules);
  const outcome = outcomeOfCards(ponto, banca);
  const placed = sumBets(Object.entries(bets));
  expect(prizeCents(layout, placed, outcome)).toBe(prize);
  expect(commissionCents(layout.rules, outcome, placed.get("banca") ?? 0)).toBe(commission);
});

test("in a tie, bets on both sides come back, and neither wins", () => {
  const tie = outcomeOfCards("Kc 6h", "2d 4s");
  expect([...winningChances(tie)]).toEqual(["tie"]);
  expect([...returnedChances(tie)]).toEqual(["ponto", "banca"]);
  expect(returnedChances(outcomeOfCards("4c 5d", "Ts 7h")).size).toBe(0);
});
