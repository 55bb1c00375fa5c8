// Nothing of a result is to be seen before its ball lies, and all of it is over before bets are taken again.
import "./page";
import { beforeEach, describe, expect, test } from "vitest";
import type { TableEvent, TableSnapshot } from "../../../src/api/messages";
import { sum } from "../../../src/games/roulette/bets";
import { FeltStory } from "../../../src/games/roulette/felt_story";
import { after } from "../../../src/table/picture";
import { layoutOf } from "./layouts";

class Clock {
  time = 1000;
  /** What the platform's clock shows at 0. */
  private readonly zero = Date.parse("2026-01-05T20:00:00Z");
  private timers: { at: number; then: () => void }[] = [];
  now = () => this.time;
  platform = () => this.zero + this.time;
  /** What the platform's clock showed so long ago. */
  before = (ms: number) => new Date(this.platform() - ms).toISOString();
  still = () => false;
  later = (ms: number, then: () => void) => {
    const timer = { at: this.time + ms, then };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  };

  passes(ms: number): void {
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
const BETS = sum([
  ["17", 100],
  ["red", 500],
  ["16-17-19-20", 200],
]);

let clock: Clock;
let story: FeltStory;
let table: TableSnapshot;

function opening(play: "PLAY_MULTI_PLAYER" | "PLAY_INDIVIDUAL", result_shown_ms: number): void {
  clock = new Clock();
  story = new FeltStory(layoutOf("WHEEL_FRENCH"), clock);
  table = {
    table_id: "t",
    seq: "1",
    phase: "PHASE_BETTING",
    configuration: { play, result_shown_ms, mode: "MODE_DEMO" },
    configuration_version: 1,
    round: { round_id: "t.1", configuration_version: 1 },
    bets: [],
    past: [{ round_id: "t.0", outcome: { number: "5" } }],
    seated: 1,
    disabled_reason: "",
  } as unknown as TableSnapshot;
  story.picture(table, sum([]));
}

function happens(event: Partial<TableEvent>): void {
  const whole = { table_id: "t", seq: "2", ...event } as TableEvent;
  table = after(table, whole);
  story.happened(whole, table, { seat: 3, bets: BETS });
}

const drawn = () => happens({ outcome_drawn: { round_id: "t.1", outcome: OUTCOME } } as never);
const settled = (payout = "5400") =>
  happens({
    round_settled: { round_id: "t.1", results: [{ seat: 3, staked_cents: "800", payout_cents: payout }] },
  } as never);
const opens = () => happens({ round_opened: { round: { round_id: "t.2", configuration_version: 1 } } } as never);
const seen = () => ({
  stage: story.stage.value,
  marked: story.marked.value,
  lying: story.lying.value,
  newest: (story.past.value[0]?.outcome as { number?: string } | undefined)?.number,
});

describe("a table for many that shows results for six seconds", () => {
  beforeEach(() => opening("PLAY_MULTI_PLAYER", 6000));

  test("while the ball rolls only the wheel knows its number", () => {
    drawn();
    settled();
    clock.passes(2900);
    expect(seen()).toEqual({ stage: "rolling", marked: null, lying: "5", newest: "5" });
    expect(story.spin.value).toMatchObject({ key: "t.1", number: "17", from_ms: 1000, until_ms: 4000 });
  });

  test("then the number is marked, what lost is collected, what won is paid", () => {
    drawn();
    settled();
    clock.passes(3000);
    expect(seen()).toEqual({ stage: "marked", marked: "17", lying: "17", newest: "17" });
    clock.passes(600);
    expect(story.stage.value).toBe("collected");
    clock.passes(600);
    expect(story.stage.value).toBe("paid");
    expect(story.told.value).toMatchObject({ staked_cents: 800, payout_cents: 5400, bets: BETS });
    expect(["17", "red", "16-17-19-20"].map((place) => story.wins(place))).toEqual([true, false, true]);
  });

  test("everything has been told before the next round opens", () => {
    drawn();
    settled();
    clock.passes(5000);
    expect(story.stage.value).toBe("paid");
  });

  test("the next round opens: everything is gone, however far it was", () => {
    drawn();
    clock.passes(100);
    opens();
    expect(seen()).toEqual({ stage: "quiet", marked: null, lying: "17", newest: "17" });
    expect([story.spin.value, story.told.value]).toEqual([null, null]);
    clock.passes(10_000);
    expect(story.stage.value).toBe("quiet");
  });

  test("nothing is collected or paid before the platform has settled", () => {
    drawn();
    clock.passes(5500);
    expect(story.stage.value).toBe("marked");
    settled();
    expect(story.stage.value).toBe("collected");
  });

  test("a settlement that comes while the number is being marked does not cut that short", () => {
    drawn();
    clock.passes(3100);
    settled();
    expect(story.stage.value).toBe("marked");
    clock.passes(500);
    expect(story.stage.value).toBe("collected");
  });

  test("without bets of one's own nothing is staked", () => {
    drawn();
    happens({ round_settled: { round_id: "t.1", results: [] } } as never);
    expect(story.told.value).toMatchObject({ settled: true, staked_cents: 0, payout_cents: 0 });
  });

  test("a picture while the ball rolls does not end its roll", () => {
    drawn();
    story.picture(table, BETS);
    expect(seen()).toMatchObject({ stage: "rolling", marked: null, newest: "5" });
  });

  test("a void round is told in its words until the next one opens", () => {
    const words = { pt: "Jogada nula", en: "Void round" };
    happens({ round_void: { round_id: "t.1", reason: "fault", words } } as never);
    expect([story.stage.value, story.voided.value]).toEqual(["quiet", words]);
    opens();
    expect(story.voided.value).toBeNull();
  });
});

describe("alone at a table", () => {
  beforeEach(() => opening("PLAY_INDIVIDUAL", 0));

  test("the next round is open at once; the ball rolls all the same, and the result stays until he goes on", () => {
    drawn();
    settled();
    opens();
    expect(story.stage.value).toBe("rolling");
    clock.passes(5200 + 1150);
    expect([story.stage.value, story.swept.value]).toEqual(["paid", false]);
    // What was paid is his, and lies no more where he may bet.
    clock.passes(60_000);
    expect([story.stage.value, story.swept.value, story.aside.value]).toEqual(["paid", true, true]);
    story.dismiss();
    expect([story.swept.value, story.aside.value]).toEqual([false, false]);
    expect(seen()).toEqual({ stage: "quiet", marked: null, lying: "17", newest: "17" });
  });

  test("a rolling ball cannot be waved away", () => {
    drawn();
    story.dismiss();
    expect(story.stage.value).toBe("rolling");
  });
});

test("a result that is shown briefly is told in time all the same", () => {
  opening("PLAY_MULTI_PLAYER", 1200);
  drawn();
  settled();
  clock.passes(1100);
  expect(story.stage.value).toBe("paid");
});

const WON = { bets: BETS, settled: true, staked_cents: 800, payout_cents: 5400 };
const NOT_IN_IT = { bets: sum([]), settled: true, staked_cents: 0, payout_cents: 0 };

describe("whoever comes while a round at a table for many is shown", () => {
  /** The picture of a settled round: its outcome is among the past ones, and nothing lies on the felt. */
  function comes(age_ms: number, fields: object = {}): string | null {
    opening("PLAY_MULTI_PLAYER", 8000);
    const { round: _, ...without } = table;
    const drawn = { round_id: "t.1", outcome: OUTCOME, drawn_at: clock.before(age_ms) };
    table = { ...without, phase: "PHASE_SHOWN", past: [drawn, ...table.past], ...fields } as TableSnapshot;
    return story.picture(table, sum([]));
  }

  test("sees the ball roll on from where it is, and nothing of its number", () => {
    expect(comes(1500)).toBe("t.1");
    story.learns("t.1", WON);
    expect(seen()).toEqual({ stage: "rolling", marked: null, lying: "5", newest: "5" });
    expect(story.spin.value).toMatchObject({ from_ms: -500, until_ms: 3500 });
    expect(story.kept.value).toBeNull();
    clock.passes(2499);
    expect(story.stage.value).toBe("rolling");
    clock.passes(1);
    expect(seen()).toEqual({ stage: "marked", marked: "17", lying: "17", newest: "17" });
    clock.passes(1200);
    expect(story.stage.value).toBe("paid");
    expect(story.told.value).toMatchObject({ staked_cents: 800, payout_cents: 5400, bets: BETS });
  });

  test("sees number and prize at once where all of it is over", () => {
    expect(comes(5500)).toBe("t.1");
    expect(seen()).toEqual({ stage: "marked", marked: "17", lying: "17", newest: "17" });
    story.learns("t.1", WON);
    expect(story.stage.value).toBe("paid");
    expect(story.told.value).toMatchObject({ payout_cents: 5400, bets: BETS });
  });

  test("without bets of his own sees that as well", () => {
    comes(5500);
    story.learns("t.1", NOT_IN_IT);
    expect([story.stage.value, story.told.value?.staked_cents]).toEqual(["paid", 0]);
  });

  test("between draw and settlement the end is heard", () => {
    expect(comes(100, { phase: "PHASE_DRAWN", round: { round_id: "t.1", outcome: OUTCOME } })).toBe("t.1");
    story.learns("t.1", { ...WON, settled: false });
    clock.passes(5000);
    expect(story.stage.value).toBe("marked");
    settled();
    clock.passes(600);
    expect([story.stage.value, story.told.value?.payout_cents]).toEqual(["paid", 5400]);
  });

  test("where nobody can say what it came to, the number is told, and then nothing", () => {
    comes(1000);
    story.learnsNothing("t.1");
    expect(story.stage.value).toBe("rolling");
    clock.passes(3100);
    expect(story.marked.value).toBe("17");
    clock.passes(1000);
    expect([story.stage.value, story.told.value, story.kept.value]).toEqual(["quiet", null, null]);
  });

  test("another picture of the same round changes nothing, and asks only for what is missing", () => {
    comes(1000);
    clock.passes(500);
    expect(story.picture(table, sum([]))).toBe("t.1");
    story.learns("t.1", WON);
    expect(story.picture(table, sum([]))).toBeNull();
    expect(story.spin.value).toMatchObject({ from_ms: 0, until_ms: 4000 });
  });

  test("a void round is not taken for the one before it", () => {
    expect(comes(8000 + 15_000)).toBeNull();
    expect(seen()).toEqual({ stage: "quiet", marked: null, lying: "17", newest: "17" });
  });

  test("who comes when the next round takes bets reads what his last one came to", () => {
    const betting = { phase: "PHASE_BETTING", round: { round_id: "t.2" } };
    expect(comes(9000, betting)).toBe("t.1");
    expect(story.stage.value).toBe("quiet");
    story.learns("t.1", WON);
    expect(story.kept.value).toMatchObject({ number: "17", payout_cents: 5400 });
    expect(comes(9000, betting)).toBe("t.1");
    story.learns("t.1", NOT_IN_IT);
    expect(story.kept.value).toBeNull();
    expect(comes(60_000, betting)).toBeNull();
  });

  test("what was missed while the line was broken goes on where it would be", () => {
    opening("PLAY_MULTI_PLAYER", 8000);
    happens({ at: clock.before(3000), outcome_drawn: { round_id: "t.1", outcome: OUTCOME } } as never);
    expect(story.spin.value).toMatchObject({ from_ms: -2000, until_ms: 2000 });
  });
});

describe("what a round came to stays to be read", () => {
  beforeEach(() => {
    opening("PLAY_MULTI_PLAYER", 8000);
    drawn();
    settled();
    clock.passes(8000);
    opens();
  });

  test("for as long as the rules say, however soon he bets again", () => {
    expect(story.stage.value).toBe("quiet");
    story.dismiss();
    // It was paid 5150 ms after the draw.
    clock.passes(5100);
    expect(story.kept.value).toMatchObject({ number: "17", staked_cents: 800, payout_cents: 5400, bets: BETS });
    clock.passes(100);
    expect(story.kept.value).toBeNull();
  });

  test("longer, until he bets", () => {
    clock.passes(60_000);
    expect(story.kept.value).not.toBeNull();
    story.dismiss();
    expect(story.kept.value).toBeNull();
  });

  test("until bets are closed: then another result comes", () => {
    happens({ betting_closed: { round_id: "t.2" } } as never);
    expect(story.kept.value).toBeNull();
  });

  test("a picture does not bring back what he has read", () => {
    clock.passes(1000);
    story.dismiss();
    clock.passes(5000);
    expect(story.kept.value).toBeNull();
    expect(story.picture(table, sum([]))).toBeNull();
  });
});

test("of a round without bets of his own nothing stays but its number among the last", () => {
  opening("PLAY_MULTI_PLAYER", 8000);
  drawn();
  happens({ round_settled: { round_id: "t.1", results: [] } } as never);
  clock.passes(8000);
  opens();
  expect(story.kept.value?.staked_cents).toBe(0);
  clock.passes(5200);
  expect(story.kept.value).toBeNull();
});

test("what was cut short by the next round can be read in it", () => {
  opening("PLAY_MULTI_PLAYER", 8000);
  drawn();
  settled();
  clock.passes(500);
  opens();
  expect([story.stage.value, story.kept.value?.payout_cents]).toEqual(["quiet", 5400]);
});

describe("alone, whoever comes back", () => {
  function back(age_ms: number, bets = sum([])): string | null {
    opening("PLAY_INDIVIDUAL", 0);
    const drawn = { round_id: "t.1", outcome: OUTCOME, drawn_at: clock.before(age_ms) };
    table = { ...table, round: { round_id: "t.2" }, past: [drawn, ...table.past] } as TableSnapshot;
    return story.picture(table, bets);
  }

  test("while the ball rolls sees it roll, though the next round is open", () => {
    expect(back(2000)).toBe("t.1");
    expect(seen()).toEqual({ stage: "rolling", marked: null, lying: "5", newest: "5" });
  });

  test("soon after it finds the result, until he goes on", () => {
    expect(back(9000)).toBe("t.1");
    story.learns("t.1", WON);
    expect([story.stage.value, story.told.value?.payout_cents]).toEqual(["paid", 5400]);
    story.dismiss();
    expect(story.stage.value).toBe("quiet");
    expect(story.picture(table, sum([]))).toBeNull();
    expect(story.stage.value).toBe("quiet");
  });

  test("with chips in the next round reads it only", () => {
    expect(back(9000, sum([["red", 100]]))).toBe("t.1");
    story.learns("t.1", WON);
    expect([story.stage.value, story.kept.value?.payout_cents]).toEqual(["quiet", 5400]);
  });

  test("later finds nothing told", () => {
    expect([back(60_000), story.stage.value]).toEqual([null, "quiet"]);
  });
});
