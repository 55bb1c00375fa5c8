// The stages of a round's outcome: nothing is public before the platform's time, and nothing is paid before it is settled.
import "../../../page";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { TableEvent, TableSnapshot } from "../../../../src/api/messages";
import { NO_BETS, sumBets } from "../../../../src/bets/bets";
import { DealSequence } from "../../../../src/games/baccarat/deal/deal_sequence";
import { outcomeOfCards } from "../outcomes";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const at = (ms: number) => new Date(NOW + ms).toISOString();
const outcome = outcomeOfCards("2h Kd 4c", "As Ad 5s");
const past = { round_id: "t.1", drawn_at: at(0), outcome };
const bets = sumBets([["banca", 200]]);

let sequence: DealSequence;

const table = (fields: object = {}) =>
  ({
    phase: "PHASE_DRAWN",
    configuration: { play: "PLAY_MULTI_PLAYER", dealing_ms: 700, result_shown_ms: 5000 },
    round: { round_id: "t.1", outcome, shown_at: at(4200) },
    past_outcomes: [past],
    ...fields,
  }) as unknown as TableSnapshot;
const event = (fields: object) => ({ at: new Date().toISOString(), ...fields }) as unknown as TableEvent;
const take = (fields: object, shown = table()) => sequence.takeEvent(event(fields), shown, { seat: 3, bets });
const draw = () => take({ outcome_drawn: { round_id: "t.1", outcome, shown_at: at(4200) } });
const settle = () =>
  take({ round_settled: { round_id: "t.1", results: [{ seat: 3, staked_cents: "200", payout_cents: "390" }] } });

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  sequence = new DealSequence({
    now: () => Date.now() - NOW,
    serverNow: () => Date.now(),
    after: (ms, then) => {
      const timer = setTimeout(then, ms);
      return () => clearTimeout(timer);
    },
  });
});
afterEach(() => {
  sequence.stop();
  vi.useRealTimers();
});

describe("a round that is seen from its beginning", () => {
  test("cards are dealt until the platform's time, then the winner is called, chips are collected and paid", () => {
    draw();
    settle();
    expect([sequence.stage.value, sequence.visiblePast.value]).toEqual(["dealing", []]);
    expect(sequence.dealt.value).toEqual({ ponto: 1, banca: 0 });
    vi.advanceTimersByTime(4100);
    expect([sequence.stage.value, sequence.visiblePast.value]).toEqual(["dealing", []]);
    expect(sequence.revealed.value).toEqual({ ponto: 3, banca: 3 });
    vi.advanceTimersByTime(150);
    expect([sequence.stage.value, sequence.visiblePast.value]).toEqual(["called", [past]]);
    vi.advanceTimersByTime(1000);
    expect(sequence.stage.value).toBe("collected");
    vi.advanceTimersByTime(700);
    expect(sequence.stage.value).toBe("paid");
    expect(sequence.result.value).toMatchObject({ staked_cents: 200, payout_cents: 390, bets });
  });

  test("nothing is collected before the platform has settled the round", () => {
    draw();
    vi.advanceTimersByTime(9000);
    expect(sequence.stage.value).toBe("called");
    settle();
    expect(sequence.stage.value).toBe("collected");
  });

  test("the next round ends it, and the result stays readable until the player has bet and read it", () => {
    draw();
    settle();
    vi.advanceTimersByTime(6000);
    take(
      { round_opened: { round: { round_id: "t.2" } } },
      table({ phase: "PHASE_BETTING", round: { round_id: "t.2" } }),
    );
    expect([sequence.stage.value, sequence.result.value]).toEqual(["quiet", null]);
    expect(sequence.keptResult.value?.round_id).toBe("t.1");
    sequence.dismiss();
    vi.advanceTimersByTime(7000);
    expect(sequence.keptResult.value).toBeNull();
  });

  test("at an individual table the cards stay until the player goes on", () => {
    const configuration = { play: "PLAY_INDIVIDUAL", dealing_ms: 700, result_shown_ms: 5000 };
    const individual = table({ configuration });
    take({ outcome_drawn: { round_id: "t.1", outcome, shown_at: at(4200) } }, individual);
    settle();
    vi.advanceTimersByTime(9000);
    const next = table({ configuration, phase: "PHASE_BETTING", round: { round_id: "t.2" } });
    take({ round_opened: { round: { round_id: "t.2" } } }, next);
    expect(sequence.stage.value).toBe("paid");
    sequence.dismiss();
    expect(sequence.stage.value).toBe("quiet");
  });
});

describe("a player who arrives in the middle", () => {
  test("sees the rest of the deal, at the platform's pace", () => {
    vi.advanceTimersByTime(2000);
    expect(sequence.takeSnapshot(table(), bets)).toBe("t.1");
    expect(sequence.stage.value).toBe("dealing");
    expect(sequence.dealt.value).toEqual({ ponto: 2, banca: 2 });
    vi.advanceTimersByTime(2250);
    expect(sequence.stage.value).toBe("called");
  });

  test("computes the time where a snapshot does not say it", () => {
    vi.advanceTimersByTime(2000);
    sequence.takeSnapshot(table({ phase: "PHASE_RESULT_SHOWN", round: { round_id: "t.1" } }), bets);
    expect(sequence.stage.value).toBe("dealing");
    expect(sequence.visiblePast.value).toEqual([]);
  });

  test("is told the result from the record, without collecting and paying again", () => {
    vi.advanceTimersByTime(7000);
    expect(sequence.takeSnapshot(table(), NO_BETS)).toBe("t.1");
    expect(sequence.stage.value).toBe("called");
    sequence.recordRead("t.1", { bets, settled: true, staked_cents: 200, payout_cents: 390 });
    expect(sequence.stage.value).toBe("paid");
  });

  test("sees nothing of a round that is over", () => {
    vi.advanceTimersByTime(60_000);
    const later = table({ phase: "PHASE_BETTING", round: { round_id: "t.2" } });
    expect(sequence.takeSnapshot(later, NO_BETS)).toBeNull();
    expect([sequence.stage.value, sequence.visiblePast.value]).toEqual(["quiet", [past]]);
  });
});
