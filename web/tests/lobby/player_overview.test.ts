// Unfinished rounds are listed once each, whatever their source.
import { describe, expect, it, vi } from "vitest";

vi.mock("../../src/api/platform", () => ({}));
vi.stubGlobal("document", { documentElement: {} });
const { unfinishedRounds } = await import("../../src/lobby/player_overview");

type Rounds = Parameters<typeof unfinishedRounds>[0];
type Tables = Parameters<typeof unfinishedRounds>[1];

const rounds = (...ids: string[]) =>
  ids.map((round_id) => ({
    round: { round_id },
    table_id: "t",
    staked_cents: "300",
    mode: "MODE_REAL",
  })) as unknown as Rounds;
const table = (round_id: string, phase: string, ...stakes: string[]) =>
  ({
    session: { table_id: "t", mode: "MODE_REAL" },
    answer: {
      table: { phase, round: { round_id } },
      own_seat: { stakes: stakes.map((amount_cents) => ({ amount_cents })) },
    },
  }) as unknown as Tables[number];

describe("unfinished rounds", () => {
  it("are those of the journal", () => {
    expect(unfinishedRounds(rounds("t.1"), [])).toEqual([
      { roundId: "t.1", tableId: "t", staked: 300, mode: "MODE_REAL" },
    ]);
  });

  it("and those that still take bets and hold the player's", () => {
    expect(unfinishedRounds([], [table("t.2", "PHASE_BETTING", "100", "250")])).toEqual([
      { roundId: "t.2", tableId: "t", staked: 350, mode: "MODE_REAL" },
    ]);
  });

  it("once each", () => {
    expect(unfinishedRounds(rounds("t.3"), [table("t.3", "PHASE_CLOSED", "300")])).toHaveLength(1);
  });

  it("without those that have ended or hold no stake of the player's", () => {
    expect(unfinishedRounds([], [table("t.4", "PHASE_BETTING"), table("t.5", "PHASE_RESULT_SHOWN", "100")])).toEqual(
      [],
    );
  });

  it("without tables that did not answer", () => {
    const silent = { session: { table_id: "t", mode: "MODE_REAL" }, answer: null } as unknown as Tables[number];
    expect(unfinishedRounds([], [silent])).toEqual([]);
  });
});
