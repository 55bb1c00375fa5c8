// Invitation and warning, from notices and, after a reconnect, from the session.
import { describe, expect, it } from "vitest";
import type { Session, SessionNotice, TableConfiguration } from "../../../src/api/messages";
import { inactivityLimit, inactivityState } from "../../../src/table/notices/inactivity";

const session = (fields: Partial<Session>) =>
  ({ session_id: "s", state: "SESSION_STATE_ACTIVE", ...fields }) as Session;
const notice = (fields: Partial<SessionNotice>) =>
  ({ session_id: "s", table_id: "t", round_id: "", rule: "804/2015:29", ...fields }) as SessionNotice;

describe("inactivity", () => {
  it("is nothing while the player bets", () => {
    expect(inactivityState(session({}), null, "PLAY_INDIVIDUAL")).toBeNull();
    expect(inactivityState(null, null, undefined)).toBeNull();
  });

  it("takes a notice with its rule and its end", () => {
    const ends_at = "2026-11-18T18:00:00Z";
    const warned = notice({ kind: "SESSION_NOTICE_KIND_WARNING", ends_at });
    expect(inactivityState(session({}), warned, "PLAY_INDIVIDUAL")).toEqual({
      kind: "warning",
      rule: "804/2015:29",
      endsAt: ends_at,
    });
  });

  it("at a table for many the warning has no time", () => {
    const warned = notice({ kind: "SESSION_NOTICE_KIND_WARNING", round_id: "t.7" });
    expect(inactivityState(session({}), warned, "PLAY_MULTI_PLAYER")).toEqual({ kind: "warning", rule: "804/2015:29" });
  });

  it("a withdrawn notice overrules the session's older state", () => {
    const withdrawn = notice({ kind: "SESSION_NOTICE_KIND_WITHDRAWN" });
    expect(inactivityState(session({ state: "SESSION_STATE_INVITED" }), withdrawn, "PLAY_INDIVIDUAL")).toBeNull();
  });

  it("after a reconnect the session's state counts", () => {
    const next_step_at = "2026-11-18T18:00:00Z";
    const warned = session({ state: "SESSION_STATE_WARNED", next_step_at });
    expect(inactivityState(session({ state: "SESSION_STATE_INVITED" }), null, "PLAY_INDIVIDUAL")?.kind).toBe(
      "invitation",
    );
    expect(inactivityState(warned, null, "PLAY_INDIVIDUAL")).toEqual({
      kind: "warning",
      rule: "",
      endsAt: next_step_at,
    });
    expect(inactivityState(warned, null, "PLAY_MULTI_PLAYER")).toEqual({ kind: "warning", rule: "" });
  });

  it("a session that is ending needs no invitation", () => {
    const invited = notice({ kind: "SESSION_NOTICE_KIND_INVITATION" });
    expect(inactivityState(session({ state: "SESSION_STATE_ENDING" }), invited, "PLAY_INDIVIDUAL")).toBeNull();
  });
});

describe("the inactivity limit", () => {
  const of = (fields: Partial<TableConfiguration>) => inactivityLimit(fields as TableConfiguration);

  it("is the regulation's where the table sets none", () => {
    expect(of({ play: "PLAY_INDIVIDUAL" })).toEqual({ seconds: 180 });
    expect(of({ play: "PLAY_MULTI_PLAYER" })).toEqual({ rounds: 5 });
  });

  it("is the table's where it is longer", () => {
    const inactivity = { invite: true, idle_seconds: 600, missed_rounds: 9 } as NonNullable<
      TableConfiguration["inactivity"]
    >;
    expect(of({ play: "PLAY_INDIVIDUAL", inactivity })).toEqual({ seconds: 600 });
    expect(of({ play: "PLAY_MULTI_PLAYER", inactivity })).toEqual({ rounds: 9 });
  });
});
