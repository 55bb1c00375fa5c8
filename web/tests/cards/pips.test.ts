// A card shows as many pips as its rank says, the same either way up.
import "../page";
import { expect, test } from "vitest";
import { RANKS } from "../../src/cards/card_names";
import { pipsOf } from "../../src/cards/pips";

test.each(RANKS)("%s", (rank) => {
  const wanted = { A: 1, T: 10, J: 0, Q: 0, K: 0 }[rank as string] ?? Number(rank);
  const pips = pipsOf(rank);
  expect(pips).toHaveLength(wanted);
  expect(new Set(pips.map(({ x, y }) => `${x} ${y}`)).size).toBe(wanted);
  // Those beyond the corners' strips, so that no index is covered.
  for (const { x, y } of pips) {
    expect(x).toBeGreaterThan(24);
    expect(x).toBeLessThan(76);
    expect(y).toBeGreaterThan(15);
    expect(y).toBeLessThan(125);
  }
  for (const { y, upsideDown } of pips) expect(upsideDown).toBe(y > 70);
});
