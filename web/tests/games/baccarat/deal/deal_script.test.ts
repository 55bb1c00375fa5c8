// When cards are dealt and turned: alternately, face down, ponto's first (812/2015:17, 18, 20), within the platform's time.
import { describe, expect, test } from "vitest";
import { dealScript, dealtAfter, momentsOf, revealedAfter } from "../../../../src/games/baccarat/deal/deal_script";

describe.each([
  [2, 2],
  [3, 2],
  [2, 3],
  [3, 3],
])("ponto %i cards, banca %i", (ponto, banca) => {
  const length_ms = 700 * (ponto + banca);
  const script = dealScript(ponto, banca, length_ms);

  test("the first four alternate, ponto first, one at a time", () => {
    const [p1, p2] = script.ponto;
    const [b1, b2] = script.banca;
    const order = [p1, b1, p2, b2];
    order.forEach((span, index) => {
      const next = order[index + 1];
      if (next) expect(next.from_ms).toBeCloseTo(span?.until_ms ?? Number.NaN);
    });
  });

  test("none is turned before the four lie; then ponto's are, then banca's", () => {
    const lie_ms = script.banca[1]?.until_ms ?? Number.NaN;
    expect(script.turns[0]?.at_ms).toBeGreaterThanOrEqual(lie_ms);
    expect(script.turns[0]?.revealed).toEqual({ ponto: 2, banca: 0 });
    expect(script.turns[1]?.revealed).toEqual({ ponto: 2, banca: 2 });
  });

  test("additional cards come when both sides are open, ponto's before banca's", () => {
    const open_ms = script.turns[1]?.at_ms ?? Number.NaN;
    const third = script.ponto[2];
    if (third) expect(third.from_ms).toBeGreaterThan(open_ms);
    const last = script.banca[2];
    if (last) expect(last.from_ms).toBeGreaterThan(third?.until_ms ?? open_ms);
  });

  test("everything lies within the time, and no earlier than it is shown", () => {
    const spans = [...script.ponto, ...script.banca];
    expect(Math.max(...spans.map(({ until_ms }) => until_ms))).toBeLessThanOrEqual(length_ms);
    expect(Math.max(...momentsOf(script))).toBeLessThan(length_ms);
    expect(revealedAfter(script, length_ms)).toEqual({ ponto, banca });
    expect(dealtAfter(script, length_ms)).toEqual({ ponto, banca });
  });

  test("an additional card is not known before it is dealt", () => {
    const open_ms = script.turns[1]?.at_ms ?? Number.NaN;
    expect(dealtAfter(script, open_ms)).toEqual({ ponto: 2, banca: 2 });
  });
});
