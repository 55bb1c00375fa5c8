// The outcome sequence fits between the outcome and the next round, and leaves time to see the payout.
import { expect, test } from "vitest";
import type { TableConfiguration } from "../../../../src/api/messages";
import { rolling_ms, sequenceTiming } from "../../../../src/games/roulette/felt/sequence_timing";

const table = (play: string, result_shown_ms: number) => ({ play, result_shown_ms }) as TableConfiguration;

test("how long the ball rolls", () => {
  expect(rolling_ms(6000, false, false)).toBe(3000);
  expect(rolling_ms(8000, false, false)).toBe(4000);
  expect(rolling_ms(12_000, false, false)).toBe(7200);
  expect(rolling_ms(60_000, false, false)).toBe(9000);
  expect(rolling_ms(1000, false, false)).toBe(500);
  expect(rolling_ms(0, false, false)).toBe(0);
  expect(rolling_ms(0, true, false)).toBeGreaterThan(3000);
  expect(rolling_ms(6000, false, true)).toBeLessThan(1000);
});

test("the sequence is over before the next round, however little time there is", () => {
  for (const shown_ms of [1000, 1200, 3500, 6000, 8000, 20_000, 60_000]) {
    const { rolls_ms, marked_ms, collected_ms } = sequenceTiming(table("PLAY_MULTI_PLAYER", shown_ms), false);
    expect(rolls_ms + marked_ms + collected_ms).toBeLessThan(shown_ms);
  }
});

test("the result stays readable as long as the rules demand, and long enough to read", () => {
  const read_ms = (shown_ms: number) => sequenceTiming(table("PLAY_MULTI_PLAYER", shown_ms), false).read_ms;
  expect([read_ms(0), read_ms(6000), read_ms(8000), read_ms(60_000)]).toEqual([6000, 6000, 8000, 60_000]);
});
