// Cards move in the spans that they are given.
import { expect, test } from "vitest";
import { dealingSpans, offsetBetween, timingOf } from "../../src/cards/card_motion";

test("cards are dealt one after the other, and the last lies at the given moment", () => {
  expect(dealingSpans(3, 400, 10_000)).toEqual([
    { from_ms: 8800, until_ms: 9200 },
    { from_ms: 9200, until_ms: 9600 },
    { from_ms: 9600, until_ms: 10_000 },
  ]);
  expect(dealingSpans(0, 400, 10_000)).toEqual([]);
});

test("a movement that is still to come waits, one under way goes on where it is, one that is over is not played", () => {
  const span = { from_ms: 1000, until_ms: 1400 };
  expect(timingOf(span, 700)).toEqual({ delay: 300, duration: 400 });
  expect(timingOf(span, 1100)).toEqual({ delay: -100, duration: 400 });
  expect(timingOf(span, 1400)).toBeNull();
  expect(timingOf(span, 5000)).toBeNull();
});

test("a card comes from the middle of the shoe", () => {
  const box = (left: number, top: number, width: number, height: number) => ({ left, top, width, height }) as DOMRect;
  expect(offsetBetween(box(100, 100, 50, 70), box(300, 0, 100, 70))).toEqual({ x: 225, y: -100 });
});
