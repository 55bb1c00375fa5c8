// The player's own hands can be read on a small felt, and cover nothing that has to be seen.
import { describe, expect, test } from "vitest";
import { handsRows, insuranceSpot, tableGeometry } from "../../../../src/games/blackjack/layout/geometry";
import { type OwnLane, ownLane } from "../../../../src/games/blackjack/layout/own_lane";

const NONE: ReadonlySet<number> = new Set();
const alone = { others: NONE, insured: NONE };
// The felts of phones of 320 × 568 and 390 × 844, and of one on its side.
const SMALL: readonly (readonly [number, number])[] = [
  [312, 276],
  [382, 530],
  [380, 232],
];

function box({ at, width, card }: OwnLane, hands: readonly number[]) {
  const rows = handsRows(hands, card, 6, width);
  return {
    left: at.x - width / 2,
    right: at.x + width / 2,
    top: at.y - 17,
    bottom: at.y + rows * 1.6 * card + (rows - 1) * 23,
  };
}

test("hands lie at their places where cards can be read there", () => {
  expect(ownLane(tableGeometry(1412, 600, 7), [2], alone)).toBeNull();
  expect(ownLane(tableGeometry(382, 530, 1), [2], alone)).toBeNull();
  expect(ownLane(tableGeometry(312, 276, 7), [], alone)).toBeNull();
});

test("on a phone a hand is larger than at its place", () => {
  for (const [width, height] of SMALL.slice(0, 2)) {
    const geometry = tableGeometry(width, height, 7);
    expect(ownLane(geometry, [2], { ...alone, others: new Set([1, 2, 3, 5, 6, 7]) })?.card).toBeGreaterThan(
      1.3 * geometry.card,
    );
  }
});

test("with room below the insurance area it stays free", () => {
  expect(ownLane(tableGeometry(382, 530, 7), [2, 2], alone)?.overBand).toBe(false);
  expect(ownLane(tableGeometry(312, 276, 7), [2, 2, 2, 2], alone)?.overBand).toBe(true);
});

describe.each(SMALL)("on a felt of %i × %i", (width, height) => {
  const geometry = tableGeometry(width, height, 7);
  const everybody = new Set([1, 2, 3, 5, 6, 7]);
  test.each([
    { hands: [2], others: everybody, insured: NONE },
    { hands: [3, 2, 1, 1], others: everybody, insured: NONE },
    { hands: [5, 4, 3, 2], others: NONE, insured: NONE },
    { hands: [2, 2, 2], others: new Set([1, 7]), insured: new Set([1, 4]) },
    { hands: [2, 2, 2, 2, 2, 2, 2], others: NONE, insured: new Set([3]) },
    { hands: Array.from({ length: 28 }, () => 2), others: NONE, insured: NONE },
  ])("$hands.length hands, others at $others.size places, $insured.size insured", ({ hands, others, insured }) => {
    const lane = ownLane(geometry, hands, { others, insured });
    if (!lane) return;
    const own = box(lane, hands);
    expect(lane.card).toBeGreaterThanOrEqual(20);
    expect(own.left).toBeGreaterThan(0);
    expect(own.top).toBeGreaterThan(geometry.bank.y + 0.7 * geometry.bankCard);
    const beside = (left: number, right: number, top: number, bottom: number) =>
      right <= own.left || left >= own.right || bottom <= own.top || top >= own.bottom;
    for (const [index, { x, y }] of geometry.places.entries()) {
      expect(beside(x - geometry.circle, x + geometry.circle, y - geometry.circle, y + geometry.circle)).toBe(true);
      const cards = 1.4 * geometry.card + geometry.circle + 9;
      if (others.has(index + 1)) {
        expect(beside(x - 0.7 * geometry.card, x + 0.7 * geometry.card, y - cards, y)).toBe(true);
      }
    }
    for (const place of insured) {
      const { x, y } = insuranceSpot(geometry, place);
      expect(beside(x - 8, x + 8, y - 8, y + 8)).toBe(true);
    }
  });
});

test("the more hands the smaller their cards", () => {
  const geometry = tableGeometry(312, 276, 7);
  const cards = [1, 4].map((count) => ownLane(geometry, Array(count).fill(2), alone)?.card ?? 0);
  expect(cards).toEqual([...cards].sort((one, other) => other - one));
  expect(cards.at(-1)).toBeGreaterThan(geometry.card);
});
