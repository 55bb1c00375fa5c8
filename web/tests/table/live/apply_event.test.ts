// Applying an event gives the snapshot that the platform would send.
import "../../page";
import { describe, expect, test } from "vitest";
import type { TableEvent, TableSnapshot } from "../../../src/api/messages";
import { applyEvent } from "../../../src/table/live/apply_event";

const outcome = { "@type": "type.googleapis.com/feltro.roulette.v1.Outcome", number: "17" };
const betting = {
  table_id: "french",
  seq: "1",
  phase: "PHASE_BETTING",
  round: { round_id: "french.1", configuration_version: 1 },
  bets: [{ seat: 1, staked_cents: "500" }],
  past_outcomes: Array.from({ length: 20 }, (_, n) => ({ round_id: `french.-${n}` })),
  seated: 2,
  seats: [1, 2, 3].map((seat) => ({ seat, taken: seat < 3 })),
} as unknown as TableSnapshot;

function afterEvents(...events: object[]): TableSnapshot {
  return events.reduce<TableSnapshot>(
    (table, what, n) => applyEvent(table, { table_id: "french", seq: String(n + 2), ...what } as unknown as TableEvent),
    betting,
  );
}

test("a round from «façam as vossas apostas» to the next", () => {
  const closed = afterEvents({ betting_closed: { round_id: "french.1" } });
  expect(closed.phase).toBe("PHASE_CLOSED");
  const drawn = afterEvents({ betting_closed: {} }, { outcome_drawn: { round_id: "french.1", outcome } });
  expect(drawn.phase).toBe("PHASE_DRAWN");
  expect(drawn.round?.outcome).toEqual(outcome);
  const next = afterEvents({ round_settled: {} }, { round_opened: { round: { round_id: "french.2" } } });
  expect(next).toMatchObject({ seq: "3", phase: "PHASE_BETTING", bets: [], round: { round_id: "french.2" } });
});

test("the newest outcome comes first, and the list is as long as a snapshot's", () => {
  const { past_outcomes: past } = afterEvents({ outcome_drawn: { round_id: "french.1", outcome } });
  expect(past).toHaveLength(20);
  expect(past[0]).toMatchObject({ round_id: "french.1", outcome });
});

test("a shoe that goes on is as the last round has left it, until a round has a shuffle of its own", () => {
  const shoe = (cards_taken: number) => ({ shoe: { cards_taken, cut_card: 260 } });
  const drawn = { outcome_drawn: { round_id: "french.1", outcome, ...shoe(124) } };
  expect(afterEvents(drawn)).toMatchObject(shoe(124));
  const next = { round_opened: { round: { round_id: "french.2" }, ...shoe(124) } };
  expect(afterEvents(drawn, { round_settled: {} }, next)).toMatchObject(shoe(124));
  expect(afterEvents(drawn, { round_opened: { round: { round_id: "french.2" } } })).not.toHaveProperty("shoe");
});

describe("a round in which players decide", () => {
  const turn = (no: number, ...seats: number[]) => ({ turn: no, seats, decide_by: "2026-11-18T12:00:20Z" });
  const dealt = {
    round_dealt: {
      round_id: "french.1",
      view: { hands: 2 },
      turn: turn(1, 3),
      shown_at: "2026-11-18T12:00:08Z",
      draw_trigger: "DRAW_TRIGGER_CLOCK",
    },
  };
  const moved = (next?: object) => ({
    move_made: {
      position: 1,
      seat: 3,
      view: { hands: 3 },
      shown_at: "2026-11-18T12:00:11Z",
      ...(next && { turn: next }),
    },
  });

  test("shows what everybody may see, whose turn it is, and when the cards lie on the table", () => {
    expect(afterEvents({ betting_closed: {} }, dealt)).toMatchObject({
      phase: "PHASE_PLAYING",
      round: { view: { hands: 2 }, turn: { turn: 1, seats: [3] }, shown_at: "2026-11-18T12:00:08Z" },
    });
    expect(afterEvents(dealt, moved(turn(2, 1)))).toMatchObject({
      phase: "PHASE_PLAYING",
      round: { view: { hands: 3 }, turn: { turn: 2, seats: [1] }, shown_at: "2026-11-18T12:00:11Z" },
    });
  });

  test("the clock of a turn may stand still, and get more time, for the turn under way alone", () => {
    const paused = { turn: { ...turn(1, 3), paused_since: "2026-11-18T12:00:12Z" } };
    const table = afterEvents(dealt, { turn_changed: { round_id: "french.1", ...paused } });
    expect(table).toMatchObject({ phase: "PHASE_PLAYING", round: { view: { hands: 2 }, ...paused } });
    const late = afterEvents(dealt, { turn_changed: { round_id: "french.0", ...paused } });
    expect(late.round?.turn).toEqual(turn(1, 3));
  });

  test("cards that are dealt after the last decision are seen with their own time, and nobody decides", () => {
    const shown = (round_id: string) => ({
      cards_shown: { round_id, view: { hands: 5 }, shown_at: "2026-11-18T12:00:14Z" },
    });
    const table = afterEvents(dealt, moved(), shown("french.1"));
    expect(table.round).toMatchObject({ view: { hands: 5 }, shown_at: "2026-11-18T12:00:14Z" });
    expect(table.round?.turn).toBeUndefined();
    expect(afterEvents(dealt, moved(), shown("french.0")).round?.view).toEqual({ hands: 3 });
  });

  test("after the last decision nobody's turn is left", () => {
    expect(afterEvents(dealt, moved()).round?.turn).toBeUndefined();
    const drawn = afterEvents(dealt, {
      outcome_drawn: { round_id: "french.1", outcome, shown_at: "2026-11-18T12:00:14Z" },
    });
    expect(drawn.round?.turn).toBeUndefined();
    expect(drawn.round).toMatchObject({ outcome, shown_at: "2026-11-18T12:00:14Z" });
  });

  test("stakes that are paid at once change neither the phase nor the cards", () => {
    const paid = afterEvents(dealt, { stakes_paid: { round_id: "french.1", results: [{ seat: 3 }] } });
    expect(paid).toEqual({ ...afterEvents(dealt), seq: "3" });
  });
});

describe("bets on the felt", () => {
  const bets = (laid: Record<string, number>) => ({
    "@type": "bets",
    bets: Object.entries(laid).map(([place, amount]) => ({ place, amount_cents: String(amount) })),
  });
  const placed = (seat: number, amount_cents: string, laid: Record<string, number>, stake_id = "s") => ({
    bets_placed: { round_id: "french.1", seat, amount_cents, stake_id, bets: bets(laid) },
  });
  const opened = { round_opened: { round: { round_id: "french.2" } } };

  test("a decision's stake lies beside the bet that it follows", () => {
    const table = afterEvents(opened, placed(2, "500", { 3: 500 }), placed(2, "500", { "3.1.double": 500 }));
    expect(table.bets).toEqual([{ seat: 2, staked_cents: "1000", bets: bets({ 3: 500, "3.1.double": 500 }) }]);
  });

  test("without a stake id the event holds all bets of the seat", () => {
    const table = afterEvents(opened, placed(2, "500", { 3: 500 }), placed(2, "900", { 3: 900 }, ""));
    expect(table.bets).toEqual([{ seat: 2, staked_cents: "900", bets: bets({ 3: 900 }) }]);
  });

  test("what was taken back is gone, and a seat without bets too", () => {
    const back = (amount_cents: string, laid: Record<string, number>) => ({
      bets_cancelled: { round_id: "french.1", seat: 2, amount_cents, stake_id: "s", bets: bets(laid) },
    });
    const table = [opened, placed(2, "700", { 3: 500, 4: 200 }), back("200", { 4: 200 })];
    expect(afterEvents(...table).bets).toEqual([{ seat: 2, staked_cents: "500", bets: bets({ 3: 500 }) }]);
    expect(afterEvents(...table, back("500", { 3: 500 })).bets).toEqual([]);
  });
});

test("counts players who sit down and leave", () => {
  expect(afterEvents({ seat_taken: { seat: 3 } }).seated).toBe(3);
  expect(afterEvents({ seat_left: { seat: 1 } }, { seat_left: { seat: 2 } }, { seat_left: { seat: 2 } }).seated).toBe(
    0,
  );
});

test("tells which seats are taken after each player who sits down or leaves", () => {
  const taken = (...events: object[]) =>
    afterEvents(...events).seats.flatMap((each) => (each.taken ? [each.seat] : []));
  expect(taken({ seat_taken: { seat: 3 } })).toEqual([1, 2, 3]);
  expect(taken({ seat_left: { seat: 1 } }, { seat_taken: { seat: 3 } }, { seat_left: { seat: 2 } })).toEqual([3]);
});

test("a disabled table says why, until it is enabled", () => {
  const off = { table_switched: { enabled: false, reason: "maintenance" } };
  expect(afterEvents(off)).toMatchObject({ phase: "PHASE_DISABLED", disabled_reason: "maintenance" });
  expect(afterEvents(off, { table_switched: { enabled: true, reason: "" } })).toMatchObject({
    phase: "PHASE_IDLE",
    disabled_reason: "",
  });
});

test("a resting table has no round", () => {
  const resting = afterEvents({ table_emptied: {} });
  expect(resting.phase).toBe("PHASE_IDLE");
  expect(resting.round).toBeUndefined();
});

test("while a result is shown, the snapshot says when the next round opens", () => {
  const next_round_opens_at = "2026-11-18T12:00:09Z";
  for (const ended of [{ round_settled: { next_round_opens_at } }, { round_voided: { next_round_opens_at } }]) {
    expect(afterEvents(ended)).toMatchObject({ phase: "PHASE_RESULT_SHOWN", next_round_opens_at });
    expect(
      afterEvents(ended, { round_opened: { round: { round_id: "french.2" } } }).next_round_opens_at,
    ).toBeUndefined();
    expect(afterEvents(ended, { table_emptied: {} }).next_round_opens_at).toBeUndefined();
  }
});

describe("a table with caves", () => {
  const cave = (seat: number, cave_cents: string) => ({ seat, cave_cents, standing: "CAVE_STANDING_PLAYING" });
  const { round: _, ...between } = { ...betting, phase: "PHASE_IDLE", caves: [cave(1, "1000")], bets: [] };

  function afterHand(...events: object[]): TableSnapshot {
    return events.reduce<TableSnapshot>(
      (table, what, n) =>
        applyEvent(table, { table_id: "poker", seq: String(n + 2), at: "2026-11-18T12:00:00Z", ...what } as never),
      between as unknown as TableSnapshot,
    );
  }

  const dealt = {
    round_dealt: { round_id: "poker.7", view: { street: "STREET_PREFLOP" }, turn: { turn: 1, seats: [1] } },
  };

  test("caves are what the last event says", () => {
    expect(afterHand({ caves_changed: { caves: [cave(1, "900"), cave(2, "1100")] } }).caves).toHaveLength(2);
  });

  test("a hand begins with its deal, without betting before it", () => {
    expect(afterHand(dealt)).toMatchObject({
      phase: "PHASE_PLAYING",
      round: {
        round_id: "poker.7",
        configuration_version: between.configuration_version,
        view: { street: "STREET_PREFLOP" },
      },
    });
  });

  test("the next hand takes nothing over from the last one", () => {
    const settled = {
      round_settled: { round_id: "poker.7", results: [], next_round_opens_at: "2026-11-18T12:00:09Z" },
    };
    const drawn = { outcome_drawn: { round_id: "poker.7", outcome } };
    const next = { round_dealt: { ...dealt.round_dealt, round_id: "poker.8" } };
    const table = afterHand(dealt, drawn, settled, next);
    expect(table.round).toMatchObject({ round_id: "poker.8", turn: { turn: 1 } });
    expect(table.round?.outcome).toBeUndefined();
    expect(table.next_round_opens_at).toBeUndefined();
  });
});
