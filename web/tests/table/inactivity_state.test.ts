// Invitation and warning, as they are told and as they are found again after a reconnect.
import { describe, expect, it } from "vitest";
import type { Session, SessionNotice, TableConfiguration } from "../../src/api/messages";
import { inactivityOf, patience } from "../../src/table/inactivity_state";

const session = (fields: Partial<Session>) =>
  ({ session_id: "s", state: "SESSION_STATE_ACTIVE", ...fields }) as Session;
const notice = (fields: Partial<SessionNotice>) =>
  ({ session_id: "s", table_id: "t", round_id: "", rule: "804/2015:29", ...fields }) as SessionNotice;

describe("inactivity", () => {
  it("is nothing while he plays", () => {
    expect(inactivityOf(session({}), null, "PLAY_INDIVIDUAL")).toBeNull();
    expect(inactivityOf(null, null, undefined)).toBeNull();
  });

  it("a notice is told with its rule and its end", () => {
    const ends_at = "2026-11-18T18:00:00Z";
    const warned = notice({ kind: "SESSION_NOTICE_KIND_WARNING", ends_at });
    expect(inactivityOf(session({}), warned, "PLAY_INDIVIDUAL")).toEqual({
      kind: "warning",
      rule: "804/2015:29",
      endsAt: ends_at,
    });
  });

  it("among others the warning names no time", () => {
    const warned = notice({ kind: "SESSION_NOTICE_KIND_WARNING", round_id: "t.7" });
    expect(inactivityOf(session({}), warned, "PLAY_MULTI_PLAYER")).toEqual({ kind: "warning", rule: "804/2015:29" });
  });

  it("a withdrawn notice is nothing, whatever the session said before", () => {
    const withdrawn = notice({ kind: "SESSION_NOTICE_KIND_WITHDRAWN" });
    expect(inactivityOf(session({ state: "SESSION_STATE_INVITED" }), withdrawn, "PLAY_INDIVIDUAL")).toBeNull();
  });

  it("after a reconnect the session itself tells it", () => {
    const next_step_at = "2026-11-18T18:00:00Z";
    const warned = session({ state: "SESSION_STATE_WARNED", next_step_at });
    expect(inactivityOf(session({ state: "SESSION_STATE_INVITED" }), null, "PLAY_INDIVIDUAL")?.kind).toBe("invitation");
    expect(inactivityOf(warned, null, "PLAY_INDIVIDUAL")).toEqual({ kind: "warning", rule: "", endsAt: next_step_at });
    expect(inactivityOf(warned, null, "PLAY_MULTI_PLAYER")).toEqual({ kind: "warning", rule: "" });
  });

  it("one whose session ends anyway is asked nothing more", () => {
    const invited = notice({ kind: "SESSION_NOTICE_KIND_INVITATION" });
    expect(inactivityOf(session({ state: "SESSION_STATE_ENDING" }), invited, "PLAY_INDIVIDUAL")).toBeNull();
  });
});

describe("patience", () => {
  const of = (fields: Partial<TableConfiguration>) => patience(fields as TableConfiguration);

  it("is the regulation's own where the table sets none", () => {
    expect(of({ play: "PLAY_INDIVIDUAL" })).toEqual({ seconds: 180 });
    expect(of({ play: "PLAY_MULTI_PLAYER" })).toEqual({ rounds: 5 });
  });

  it("is the table's where it waits longer", () => {
    const inactivity = { invite: true, idle_seconds: 600, missed_rounds: 9 } as NonNullable<
      TableConfiguration["inactivity"]
    >;
    expect(of({ play: "PLAY_INDIVIDUAL", inactivity })).toEqual({ seconds: 600 });
    expect(of({ play: "PLAY_MULTI_PLAYER", inactivity })).toEqual({ rounds: 9 });
  });
});
