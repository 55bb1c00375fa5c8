// Raises to parts of the pot, against the bounds of the rulebook's worked examples (806/2015:24, A-06 to A-08).
import { describe, expect, test } from "vitest";
import {
  canRaise,
  POT_PARTS,
  type PotPart,
  type RaiseSituation,
  raiseTo,
} from "../../../../src/games/poker/act/raise_amounts";

type Figures = [bet: number, to_call: number, total: number, min_to: number, max_to: number];

function situation([bet_cents, to_call_cents, total_cents, min_to_cents, max_to_cents]: Figures): RaiseSituation {
  return { bet_cents, to_call_cents, total_cents, min_to_cents, max_to_cents };
}

// Whose turn it is: their bet, what a call costs, what lies in the middle, and the bounds.
const BOUNDS: [example: string, Figures][] = [
  ["C-13 p2", [0, 100, 150, 200, 350]],
  ["C-13 p3 after r350", [0, 350, 500, 600, 1200]],
  ["C-13 p0 after c", [50, 300, 850, 600, 1500]],
  ["C-13 p1 after f", [100, 250, 850, 600, 1450]],
  ["C-13 p1 on the flop", [0, 0, 1100, 100, 1100]],
  ["C-14 p2", [0, 100, 150, 200, 225]],
  ["C-14 p0 after r225", [50, 175, 375, 350, 500]],
  ["C-14 p1 after c", [100, 125, 550, 350, 562]],
  ["C-14 p0 on the flop", [0, 0, 550, 100, 275]],
  ["C-15 p2", [0, 100, 150, 200, 200]],
  ["C-15 p0 after r200", [50, 150, 350, 300, 300]],
  ["C-15 p1 after r300", [100, 200, 600, 400, 400]],
  ["C-16 p2", [0, 100, 150, 200, 10000]],
  ["C-16 p3 after r250", [0, 250, 400, 400, 10000]],
  ["C-16 p0 after r400", [50, 350, 800, 550, 10000]],
  ["C-17 p2", [0, 900, 1800, 1400, 9900]],
  ["C-18 p0", [100, 100, 950, 300, 9900]],
];

describe.each(BOUNDS)("%s", (_, figures) => {
  const faced = situation(figures);
  const [, , , min_to, max_to] = figures;

  test.each(POT_PARTS)("%s stays within the bounds", (part) => {
    const to_cents = raiseTo(part, faced);
    expect(to_cents).toBeGreaterThanOrEqual(min_to);
    expect(to_cents).toBeLessThanOrEqual(max_to);
    expect(Number.isInteger(to_cents)).toBe(true);
  });

  test("a larger part is never a smaller bet", () => {
    const amounts = POT_PARTS.map((part) => raiseTo(part, faced));
    expect([...amounts].sort((one, other) => one - other)).toEqual(amounts);
  });

  test("the maximum is the platform's", () => {
    expect(raiseTo("max", faced)).toBe(max_to);
  });
});

test.each(BOUNDS.filter(([example]) => example.startsWith("C-13")))("%s: the pot is the pot limit", (_, figures) => {
  expect(raiseTo("pot", situation(figures))).toBe(figures[4]);
});

test.each(BOUNDS.filter(([example]) => example.startsWith("C-14")))("%s: half a pot is the limit", (_, figures) => {
  expect(raiseTo("half", situation(figures))).toBe(figures[4]);
});

test.each<[PotPart, number]>([
  ["third", 400],
  ["half", 450],
  ["two_thirds", 516],
  ["pot", 650],
])("%s of the pot, where nothing limits it", (part, to_cents) => {
  // 250 to call, 100 in front: the pot is 400 once the call is in it.
  expect(raiseTo(part, situation([0, 250, 150, 400, 10000]))).toBe(to_cents);
});

test.each<[string, Figures]>([
  ["C-17b p0", [500, 400, 3200, 0, 0]],
  ["C-18b p2", [150, 50, 1050, 0, 0]],
])("%s may not raise", (_, figures) => {
  expect(canRaise(situation(figures))).toBe(false);
});
