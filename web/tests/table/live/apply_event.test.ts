// Applying an event gives the snapshot that the platform would send.
import { expect, test } from "vitest";
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
} as unknown as TableSnapshot;

function after(...events: object[]): TableSnapshot {
  return events.reduce<TableSnapshot>(
    (table, what, n) => applyEvent(table, { table_id: "french", seq: String(n + 2), ...what } as unknown as TableEvent),
    betting,
  );
}

test("a round from «façam as vossas apostas» to the next", () => {
  const closed = after({ betting_closed: { round_id: "french.1" } });
  expect(closed.phase).toBe("PHASE_CLOSED");
  const drawn = after({ betting_closed: {} }, { outcome_drawn: { round_id: "french.1", outcome } });
  expect(drawn.phase).toBe("PHASE_DRAWN");
  expect(drawn.round?.outcome).toEqual(outcome);
  const next = after({ round_settled: {} }, { round_opened: { round: { round_id: "french.2" } } });
  expect(next).toMatchObject({ seq: "3", phase: "PHASE_BETTING", bets: [], round: { round_id: "french.2" } });
});

test("the newest outcome comes first, and the list is as long as a snapshot's", () => {
  const { past_outcomes: past } = after({ outcome_drawn: { round_id: "french.1", outcome } });
  expect(past).toHaveLength(20);
  expect(past[0]).toMatchObject({ round_id: "french.1", outcome });
});

test("counts players who sit down and leave", () => {
  expect(after({ seat_taken: { seat: 3 } }).seated).toBe(3);
  expect(after({ seat_left: { seat: 1 } }, { seat_left: { seat: 2 } }, { seat_left: { seat: 2 } }).seated).toBe(0);
});

test("a disabled table says why, until it is enabled", () => {
  const off = { table_switched: { enabled: false, reason: "maintenance" } };
  expect(after(off)).toMatchObject({ phase: "PHASE_DISABLED", disabled_reason: "maintenance" });
  expect(after(off, { table_switched: { enabled: true, reason: "" } })).toMatchObject({
    phase: "PHASE_IDLE",
    disabled_reason: "",
  });
});

test("a resting table has no round", () => {
  const resting = after({ table_emptied: {} });
  expect(resting.phase).toBe("PHASE_IDLE");
  expect(resting.round).toBeUndefined();
});

test("while a result is shown, the snapshot says when the next round opens", () => {
  const next_round_opens_at = "2026-11-18T12:00:09Z";
  for (const ended of [{ round_settled: { next_round_opens_at } }, { round_voided: { next_round_opens_at } }]) {
    expect(after(ended)).toMatchObject({ phase: "PHASE_RESULT_SHOWN", next_round_opens_at });
    expect(after(ended, { round_opened: { round: { round_id: "french.2" } } }).next_round_opens_at).toBeUndefined();
    expect(after(ended, { table_emptied: {} }).next_round_opens_at).toBeUndefined();
  }
});
