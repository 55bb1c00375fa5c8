// A table after each event is what a snapshot of it would show.
import { expect, test } from "vitest";
import type { TableEvent, TableSnapshot } from "../../src/api/messages";
import { after } from "../../src/table/picture";

const outcome = { "@type": "type.googleapis.com/feltro.roulette.v1.Outcome", number: "17" };
const betting = {
  table_id: "french",
  seq: "1",
  phase: "PHASE_BETTING",
  round: { round_id: "french.1", configuration_version: 1 },
  bets: [{ seat: 1, staked_cents: "500" }],
  past: Array.from({ length: 20 }, (_, n) => ({ round_id: `french.-${n}` })),
  seated: 2,
} as unknown as TableSnapshot;

function told(...events: object[]): TableSnapshot {
  return events.reduce<TableSnapshot>(
    (table, what, n) => after(table, { table_id: "french", seq: String(n + 2), ...what } as unknown as TableEvent),
    betting,
  );
}

test("a round from «façam as vossas apostas» to the next", () => {
  const closed = told({ betting_closed: { round_id: "french.1" } });
  expect(closed.phase).toBe("PHASE_CLOSED");
  const drawn = told({ betting_closed: {} }, { outcome_drawn: { round_id: "french.1", outcome } });
  expect(drawn.phase).toBe("PHASE_DRAWN");
  expect(drawn.round?.outcome).toEqual(outcome);
  const next = told({ round_settled: {} }, { round_opened: { round: { round_id: "french.2" } } });
  expect(next).toMatchObject({ seq: "3", phase: "PHASE_BETTING", bets: [], round: { round_id: "french.2" } });
});

test("the newest outcome comes first, and no more are kept than a snapshot has", () => {
  const { past } = told({ outcome_drawn: { round_id: "french.1", outcome } });
  expect(past).toHaveLength(20);
  expect(past[0]).toMatchObject({ round_id: "french.1", outcome });
});

test("who sits down and leaves is counted", () => {
  expect(told({ seat_taken: { seat: 3 } }).seated).toBe(3);
  expect(told({ seat_left: { seat: 1 } }, { seat_left: { seat: 2 } }, { seat_left: { seat: 2 } }).seated).toBe(0);
});

test("a table that is switched off says why, until it is on again", () => {
  const off = { table_switched: { enabled: false, reason: "maintenance" } };
  expect(told(off)).toMatchObject({ phase: "PHASE_DISABLED", disabled_reason: "maintenance" });
  expect(told(off, { table_switched: { enabled: true, reason: "" } })).toMatchObject({
    phase: "PHASE_RESTING",
    disabled_reason: "",
  });
});

test("a table that rests has no round", () => {
  const resting = told({ table_resting: {} });
  expect(resting.phase).toBe("PHASE_RESTING");
  expect(resting.round).toBeUndefined();
});
