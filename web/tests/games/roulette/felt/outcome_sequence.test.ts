// No result is visible before its ball rests, and the whole sequence is over before bets are taken again.
import "../../../page";
import { beforeEach, describe, expect, test } from "vitest";
import type { TableEvent, TableSnapshot } from "../../../../src/api/messages";
import { sumBets } from "../../../../src/bets/bets";
import { OutcomeSequence } from "../../../../src/games/roulette/felt/outcome_sequence";
import { applyEvent } from "../../../../src/table/live/apply_event";
import { layoutOf } from "../layouts";

class Clock {
  time = 1000;
  /** The platform's time at 0. */
  private readonly zero = Date.parse("2026-01-05T20:00:00Z");
  private timers: { at: number; then: () => void }[] = [];
  now = () => this.time;
  serverNow = () => this.zero + this.time;
  /** The platform's time so many milliseconds ago. */
  before = (ms: number) => new Date(this.serverNow() - ms).toISOString();
  reducedMotion = () => false;
  after = (ms: number, then: () => void) => {
    const timer = { at: this.time + ms, then };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  };

  advance(ms: number): void {
    const until = this.time + ms;
    for (;;) {
      const next = this.timers.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
      if (!next) break;
      this.timers = this.timers.filter((one) => one !== next);
      this.time = next.at;
      next.then();
    }
    this.time = until;
  }
}

const OUTCOME = { "@type": "feltro.roulette.v1.Outcome", number: "17", colour: "COLOUR_BLACK", pocket: 8 };
const BETS = sumBets([
  ["17", 100],
  ["red", 500],
  ["16-17-19-20", 200],
]);

let clock: Clock;
let sequence: OutcomeSequence;
let table: TableSnapshot;

function opening(play: "PLAY_MULTI_PLAYER" | "PLAY_INDIVIDUAL", result_shown_ms: number): void {
  clock = new Clock();
  sequence = new OutcomeSequence(layoutOf("WHEEL_FRENCH"), clock);
  table = {
    table_id: "t",
    seq: "1",
    phase: "PHASE_BETTING",
    configuration: { play, result_shown_ms, mode: "MODE_DEMO" },
    configuration_version: 1,
    round: { round_id: "t.1", configuration_version: 1 },
    bets: [],
    past_outcomes: [{ round_id: "t.0", outcome: { number: "5" } }],
    seated: 1,
    disabled_reason: "",
  } as unknown as TableSnapshot;
  sequence.takeSnapshot(table, sumBets([]));
}

function happens(event: Partial<TableEvent>): void {
  const whole = { table_id: "t", seq: "2", ...event } as TableEvent;
  table = applyEvent(table, whole);
  sequence.takeEvent(whole, table, { seat: 3, bets: BETS });
}

const drawn = () => happens({ outcome_drawn: { round_id: "t.1", outcome: OUTCOME } } as never);
const settled = (payout = "5400") =>
  happens({
    round_settled: { round_id: "t.1", results: [{ seat: 3, staked_cents: "800", payout_cents: payout }] },
  } as never);
const opens = () => happens({ round_opened: { round: { round_id: "t.2", configuration_version: 1 } } } as never);
const seen = () => ({
  stage: sequence.stage.value,
  marked: sequence.marked.value,
  lying: sequence.restingNumber.value,
  newest: (sequence.visiblePast.value[0]?.outcome as { number?: string } | undefined)?.number,
});

describe("a table for many that shows results for six seconds", () => {
  beforeEach(() => opening("PLAY_MULTI_PLAYER", 6000));

  test("while the ball rolls only the wheel knows its number", () => {
    drawn();
    settled();
    clock.advance(2900);
    expect(seen()).toEqual({ stage: "rolling", marked: null, lying: "5", newest: "5" });
    expect(sequence.spin.value).toMatchObject({ key: "t.1", number: "17", from_ms: 1000, until_ms: 4000 });
  });

  test("then the number is marked, losing bets are collected, winning ones paid", () => {
    drawn();
    settled();
    clock.advance(3000);
    expect(seen()).toEqual({ stage: "marked", marked: "17", lying: "17", newest: "17" });
    clock.advance(600);
    expect(sequence.stage.value).toBe("collected");
    clock.advance(600);
    expect(sequence.stage.value).toBe("paid");
    expect(sequence.result.value).toMatchObject({ staked_cents: 800, payout_cents: 5400, bets: BETS });
    expect(["17", "red", "16-17-19-20"].map((place) => sequence.wins(place))).toEqual([true, false, true]);
  });

  test("the sequence is over before the next round opens", () => {
    drawn();
    settled();
    clock.advance(5000);
    expect(sequence.stage.value).toBe("paid");
  });

  test("the next round ends the sequence at any stage", () => {
    drawn();
    clock.advance(100);
    opens();
    expect(seen()).toEqual({ stage: "quiet", marked: null, lying: "17", newest: "17" });
    expect([sequence.spin.value, sequence.result.value]).toEqual([null, null]);
    clock.advance(10_000);
    expect(sequence.stage.value).toBe("quiet");
  });

  test("nothing is collected or paid before the platform has settled", () => {
    drawn();
    clock.advance(5500);
    expect(sequence.stage.value).toBe("marked");
    settled();
    expect(sequence.stage.value).toBe("collected");
  });

  test("a settlement during the marking does not cut it short", () => {
    drawn();
    clock.advance(3100);
    settled();
    expect(sequence.stage.value).toBe("marked");
    clock.advance(500);
    expect(sequence.stage.value).toBe("collected");
  });

  test("without own bets nothing is staked", () => {
    drawn();
    happens({ round_settled: { round_id: "t.1", results: [] } } as never);
    expect(sequence.result.value).toMatchObject({ settled: true, staked_cents: 0, payout_cents: 0 });
  });

  test("a snapshot while the ball rolls does not interrupt it", () => {
    drawn();
    sequence.takeSnapshot(table, BETS);
    expect(seen()).toMatchObject({ stage: "rolling", marked: null, newest: "5" });
  });

  test("a void round shows its reason until the next one opens", () => {
    const words = { pt: "Jogada nula", en: "Void round" };
    happens({ round_voided: { round_id: "t.1", reason: "fault", phrase: words } } as never);
    expect([sequence.stage.value, sequence.voided.value]).toEqual(["quiet", words]);
    opens();
    expect(sequence.voided.value).toBeNull();
  });
});

describe("an individual table", () => {
  beforeEach(() => opening("PLAY_INDIVIDUAL", 0));

  test("the next round opens at once; the ball rolls all the same, and the result stays until the player goes on", () => {
    drawn();
    settled();
    opens();
    expect(sequence.stage.value).toBe("rolling");
    clock.advance(5200 + 1150);
    expect([sequence.stage.value, sequence.swept.value]).toEqual(["paid", false]);
    // What was paid belongs to the player, and is out of the way of new bets.
    clock.advance(60_000);
    expect([sequence.stage.value, sequence.swept.value, sequence.plaqueDone.value]).toEqual(["paid", true, true]);
    sequence.dismiss();
    expect([sequence.swept.value, sequence.plaqueDone.value]).toEqual([false, false]);
    expect(seen()).toEqual({ stage: "quiet", marked: null, lying: "17", newest: "17" });
  });

  test("a rolling ball cannot be dismissed", () => {
    drawn();
    sequence.dismiss();
    expect(sequence.stage.value).toBe("rolling");
  });
});

test("a briefly shown result is over in time all the same", () => {
  opening("PLAY_MULTI_PLAYER", 1200);
  drawn();
  settled();
  clock.advance(1100);
  expect(sequence.stage.value).toBe("paid");
});

const WON = { bets: BETS, settled: true, staked_cents: 800, payout_cents: 5400 };
const NOT_IN_IT = { bets: sumBets([]), settled: true, staked_cents: 0, payout_cents: 0 };

describe("arriving while a round at a table for many is shown", () => {
  /** The snapshot of a settled round: its outcome is among the past ones, and the felt is empty. */
  function comes(age_ms: number, fields: object = {}): string | null {
    opening("PLAY_MULTI_PLAYER", 8000);
    const { round: _, ...without } = table;
    const drawn = { round_id: "t.1", outcome: OUTCOME, drawn_at: clock.before(age_ms) };
    table = {
      ...without,
      phase: "PHASE_RESULT_SHOWN",
      past_outcomes: [drawn, ...table.past_outcomes],
      ...fields,
    } as TableSnapshot;
    return sequence.takeSnapshot(table, sumBets([]));
  }

  test("the ball rolls on from where it is, and its number stays hidden", () => {
    expect(comes(1500)).toBe("t.1");
    sequence.recordRead("t.1", WON);
    expect(seen()).toEqual({ stage: "rolling", marked: null, lying: "5", newest: "5" });
    expect(sequence.spin.value).toMatchObject({ from_ms: -500, until_ms: 3500 });
    expect(sequence.keptResult.value).toBeNull();
    clock.advance(2499);
    expect(sequence.stage.value).toBe("rolling");
    clock.advance(1);
    expect(seen()).toEqual({ stage: "marked", marked: "17", lying: "17", newest: "17" });
    clock.advance(1200);
    expect(sequence.stage.value).toBe("paid");
    expect(sequence.result.value).toMatchObject({ staked_cents: 800, payout_cents: 5400, bets: BETS });
  });

  test("number and prize show at once when the sequence is over", () => {
    expect(comes(5500)).toBe("t.1");
    expect(seen()).toEqual({ stage: "marked", marked: "17", lying: "17", newest: "17" });
    sequence.recordRead("t.1", WON);
    expect(sequence.stage.value).toBe("paid");
    expect(sequence.result.value).toMatchObject({ payout_cents: 5400, bets: BETS });
  });

  test("the same without own bets", () => {
    comes(5500);
    sequence.recordRead("t.1", NOT_IN_IT);
    expect([sequence.stage.value, sequence.result.value?.staked_cents]).toEqual(["paid", 0]);
  });

  test("between draw and settlement the sequence waits for the settlement", () => {
    expect(comes(100, { phase: "PHASE_DRAWN", round: { round_id: "t.1", outcome: OUTCOME } })).toBe("t.1");
    sequence.recordRead("t.1", { ...WON, settled: false });
    clock.advance(5000);
    expect(sequence.stage.value).toBe("marked");
    settled();
    clock.advance(600);
    expect([sequence.stage.value, sequence.result.value?.payout_cents]).toEqual(["paid", 5400]);
  });

  test("if the result cannot be read, only the number is shown", () => {
    comes(1000);
    sequence.recordUnavailable("t.1");
    expect(sequence.stage.value).toBe("rolling");
    clock.advance(3100);
    expect(sequence.marked.value).toBe("17");
    clock.advance(1000);
    expect([sequence.stage.value, sequence.result.value, sequence.keptResult.value]).toEqual(["quiet", null, null]);
  });

  test("another snapshot of the same round changes nothing, and asks only for what is missing", () => {
    comes(1000);
    clock.advance(500);
    expect(sequence.takeSnapshot(table, sumBets([]))).toBe("t.1");
    sequence.recordRead("t.1", WON);
    expect(sequence.takeSnapshot(table, sumBets([]))).toBeNull();
    expect(sequence.spin.value).toMatchObject({ from_ms: 0, until_ms: 4000 });
  });

  test("a void round is not taken for the round before it", () => {
    expect(comes(8000 + 15_000)).toBeNull();
    expect(seen()).toEqual({ stage: "quiet", marked: null, lying: "17", newest: "17" });
  });

  test("in the next round's betting window the last own result can be read", () => {
    const betting = { phase: "PHASE_BETTING", round: { round_id: "t.2" } };
    expect(comes(9000, betting)).toBe("t.1");
    expect(sequence.stage.value).toBe("quiet");
    sequence.recordRead("t.1", WON);
    expect(sequence.keptResult.value).toMatchObject({ number: "17", payout_cents: 5400 });
    expect(comes(9000, betting)).toBe("t.1");
    sequence.recordRead("t.1", NOT_IN_IT);
    expect(sequence.keptResult.value).toBeNull();
    expect(comes(60_000, betting)).toBeNull();
  });

  test("events that were missed while disconnected continue in time", () => {
    opening("PLAY_MULTI_PLAYER", 8000);
    happens({ at: clock.before(3000), outcome_drawn: { round_id: "t.1", outcome: OUTCOME } } as never);
    expect(sequence.spin.value).toMatchObject({ from_ms: -2000, until_ms: 2000 });
  });
});

describe("the result stays readable", () => {
  beforeEach(() => {
    opening("PLAY_MULTI_PLAYER", 8000);
    drawn();
    settled();
    clock.advance(8000);
    opens();
  });

  test("for as long as the rules demand, however soon the player bets again", () => {
    expect(sequence.stage.value).toBe("quiet");
    sequence.dismiss();
    // It was paid 5150 ms after the draw.
    clock.advance(5100);
    expect(sequence.keptResult.value).toMatchObject({
      number: "17",
      staked_cents: 800,
      payout_cents: 5400,
      bets: BETS,
    });
    clock.advance(100);
    expect(sequence.keptResult.value).toBeNull();
  });

  test("longer, until the player bets", () => {
    clock.advance(60_000);
    expect(sequence.keptResult.value).not.toBeNull();
    sequence.dismiss();
    expect(sequence.keptResult.value).toBeNull();
  });

  test("until betting closes: then another result comes", () => {
    happens({ betting_closed: { round_id: "t.2" } } as never);
    expect(sequence.keptResult.value).toBeNull();
  });

  test("and a snapshot does not bring it back after it was read", () => {
    clock.advance(1000);
    sequence.dismiss();
    clock.advance(5000);
    expect(sequence.keptResult.value).toBeNull();
    expect(sequence.takeSnapshot(table, sumBets([]))).toBeNull();
  });
});

test("without own bets only the number among the latest stays", () => {
  opening("PLAY_MULTI_PLAYER", 8000);
  drawn();
  happens({ round_settled: { round_id: "t.1", results: [] } } as never);
  clock.advance(8000);
  opens();
  expect(sequence.keptResult.value?.staked_cents).toBe(0);
  clock.advance(5200);
  expect(sequence.keptResult.value).toBeNull();
});

test("a result that the next round cut short stays readable", () => {
  opening("PLAY_MULTI_PLAYER", 8000);
  drawn();
  settled();
  clock.advance(500);
  opens();
  expect([sequence.stage.value, sequence.keptResult.value?.payout_cents]).toEqual(["quiet", 5400]);
});

describe("returning to an individual table", () => {
  function back(age_ms: number, bets = sumBets([])): string | null {
    opening("PLAY_INDIVIDUAL", 0);
    const drawn = { round_id: "t.1", outcome: OUTCOME, drawn_at: clock.before(age_ms) };
    table = { ...table, round: { round_id: "t.2" }, past_outcomes: [drawn, ...table.past_outcomes] } as TableSnapshot;
    return sequence.takeSnapshot(table, bets);
  }

  test("while the ball rolls, the ball rolls on, though the next round is open", () => {
    expect(back(2000)).toBe("t.1");
    expect(seen()).toEqual({ stage: "rolling", marked: null, lying: "5", newest: "5" });
  });

  test("soon after it, the result waits for the player", () => {
    expect(back(9000)).toBe("t.1");
    sequence.recordRead("t.1", WON);
    expect([sequence.stage.value, sequence.result.value?.payout_cents]).toEqual(["paid", 5400]);
    sequence.dismiss();
    expect(sequence.stage.value).toBe("quiet");
    expect(sequence.takeSnapshot(table, sumBets([]))).toBeNull();
    expect(sequence.stage.value).toBe("quiet");
  });

  test("with chips in the next round, the result can only be read", () => {
    expect(back(9000, sumBets([["red", 100]]))).toBe("t.1");
    sequence.recordRead("t.1", WON);
    expect([sequence.stage.value, sequence.keptResult.value?.payout_cents]).toEqual(["quiet", 5400]);
  });

  test("later, nothing is shown", () => {
    expect([back(60_000), sequence.stage.value]).toEqual([null, "quiet"]);
  });
});
