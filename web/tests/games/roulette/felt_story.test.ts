// Nothing of a result is to be seen before its ball lies, and all of it is over before bets are taken again.
import "./page";
import { beforeEach, describe, expect, test } from "vitest";
import type { TableEvent, TableSnapshot } from "../../../src/api/messages";
import { sum } from "../../../src/games/roulette/bets";
import { FeltStory, rolling_ms } from "../../../src/games/roulette/felt_story";
import { after } from "../../../src/table/picture";
import { layoutOf } from "./layouts";

class Clock {
  time = 1000;
  private timers: { at: number; then: () => void }[] = [];
  now = () => this.time;
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
    clock.passes(3500);
    expect(seen()).toEqual({ stage: "rolling", marked: null, lying: "5", newest: "5" });
    expect(story.spin.value).toMatchObject({ key: "t.1", number: "17", from_ms: 1000, until_ms: 4600 });
  });

  test("then the number is marked, what lost is collected, what won is paid", () => {
    drawn();
    settled();
    clock.passes(3600);
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
    clock.passes(3700);
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

  test("coming back while a result is shown finds the ball lying", () => {
    story.picture(
      {
        ...table,
        phase: "PHASE_SHOWN",
        round: { ...table.round, outcome: OUTCOME },
        past: [{ round_id: "t.1", outcome: OUTCOME }, ...table.past],
      } as TableSnapshot,
      BETS,
    );
    expect(seen()).toEqual({ stage: "paid", marked: "17", lying: "17", newest: "17" });
    expect([story.spin.value, story.told.value?.settled]).toEqual([null, false]);
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
    clock.passes(60_000);
    expect(story.stage.value).toBe("paid");
    story.dismiss();
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

test("how long the ball takes", () => {
  expect(rolling_ms(6000, false, false)).toBe(3600);
  expect(rolling_ms(4500, false, false)).toBe(2500);
  expect(rolling_ms(60_000, false, false)).toBe(9000);
  expect(rolling_ms(1000, false, false)).toBe(500);
  expect(rolling_ms(0, false, false)).toBe(0);
  expect(rolling_ms(0, true, false)).toBeGreaterThan(3000);
  expect(rolling_ms(6000, false, true)).toBeLessThan(1000);
});
