// The words of a table's clock in each phase; they never reveal a result that is still being shown.
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { TableSnapshot } from "../../../src/api/messages";
import type { PhaseContext } from "../../../src/table/live/phase_text";

const at = (s: number) => new Date(Date.UTC(2026, 10, 18, 12, 0, s)).toISOString();
const now = (s: number) => Date.parse(at(s));
const table = (fields: object) => ({ phase: "PHASE_IDLE", disabled_reason: "", ...fields }) as TableSnapshot;
const round = { round_id: "t.1", opened_at: at(0), closes_at: at(15) };
const own = { round_id: "t.1", opened_at: at(0) };

describe("the clock of a table", () => {
  let phaseText: typeof import("../../../src/table/live/phase_text").phaseText;
  const context = (fields: Partial<PhaseContext> = {}): PhaseContext => ({
    individual: false,
    now: now(5),
    resultPending: false,
    seated: true,
    ownPace: "Comece quando quiser",
    ...fields,
  });

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    ({ phaseText } = await import("../../../src/table/live/phase_text"));
  });

  it("counts down to the close, by the given time", () => {
    const text = phaseText(table({ phase: "PHASE_BETTING", round }), context());
    expect(text).toMatchObject({ stage: "bets", headline: "Façam as vossas apostas" });
    expect([text.remaining_ms, text.window_ms]).toEqual([10_000, 15_000]);
  });

  it("never shows more than the window", () => {
    expect(phaseText(table({ phase: "PHASE_BETTING", round }), context({ now: now(0) - 80 })).remaining_ms).toBe(
      15_000,
    );
  });

  it("never counts below zero", () => {
    expect(phaseText(table({ phase: "PHASE_BETTING", round }), context({ now: now(20) })).remaining_ms).toBe(0);
  });

  it("has no countdown where the player starts the round", () => {
    const text = phaseText(table({ phase: "PHASE_BETTING", round: own }), context({ individual: true }));
    expect(text).toMatchObject({ stage: "bets", detail: "Comece quando quiser" });
    expect(text.remaining_ms).toBeUndefined();
  });

  it("says no more bets while a result is being shown, whatever the phase", () => {
    for (const phase of ["PHASE_CLOSED", "PHASE_DRAWN"]) {
      expect(phaseText(table({ phase, round }), context()).headline).toBe("Jogo feito, nada mais");
    }
    const pending = context({ resultPending: true, individual: true });
    expect(phaseText(table({ phase: "PHASE_RESULT_SHOWN", round }), pending).stage).toBe("closed");
    expect(phaseText(table({ phase: "PHASE_BETTING", round: own }), pending).stage).toBe("closed");
  });

  it("at a table for many, counts down even while a result is being shown", () => {
    expect(phaseText(table({ phase: "PHASE_BETTING", round }), context({ resultPending: true })).stage).toBe("bets");
  });

  it("says when the next round opens", () => {
    const shown = table({ phase: "PHASE_RESULT_SHOWN", round, next_round_opens_at: at(9) });
    expect(phaseText(shown, context())).toMatchObject({ stage: "shown", detail: "Próxima jogada dentro de 4 s" });
    expect(phaseText(shown, context({ now: now(10) })).detail).toBe("A próxima jogada está a abrir");
  });

  it("promises no next round where the platform names none", () => {
    const past_outcomes = [{ round_id: "t.1", drawn_at: at(3) }];
    const shown = table({ phase: "PHASE_RESULT_SHOWN", configuration: { result_shown_ms: 8000 }, past_outcomes });
    expect(phaseText(shown, context())).toMatchObject({ stage: "shown", detail: "" });
  });

  it("gives the platform's reason for a void round", () => {
    const voidWords = { pt: "Ocorreu um erro.", en: "An error occurred." };
    const text = phaseText(table({ phase: "PHASE_RESULT_SHOWN", round }), context({ voidWords }));
    expect(text).toMatchObject({ stage: "void", detail: "Ocorreu um erro." });
  });

  describe("while players decide", () => {
    const turn = { turn: 2, seats: [3], decide_by: at(20) };
    const playing = (fields: object = {}) =>
      table({ phase: "PHASE_PLAYING", configuration: { decision_ms: 15_000 }, round: { ...round, turn, ...fields } });

    it("counts down the player's own time", () => {
      const text = phaseText(playing(), context({ seat: 3, now: now(8) }));
      expect(text).toMatchObject({ stage: "turn", headline: "É a sua vez", remaining_ms: 12_000, window_ms: 15_000 });
    });

    it("says who decides, with their time", () => {
      const text = phaseText(playing(), context({ seat: 1, now: now(8) }));
      expect(text).toMatchObject({ stage: "turn", headline: "Decide o lugar 3", remaining_ms: 12_000 });
      const both = playing({ turn: { ...turn, seats: [1, 3] } });
      expect(phaseText(both, context({ seat: 2 })).headline).toBe("Decidem os lugares 1, 3");
    });

    it("runs no time while cards are being dealt, nor at an individual table", () => {
      const dealing = context({ seat: 3, dealing: true, unfolding: "Cartas em distribuição" });
      expect(phaseText(playing(), dealing)).toEqual({
        stage: "closed",
        headline: "Jogo feito, nada mais",
        detail: "Cartas em distribuição",
      });
      expect(phaseText(playing(), context({ seat: 3, individual: true })).remaining_ms).toBeUndefined();
    });
  });

  it("says why a table is disabled", () => {
    const text = phaseText(table({ phase: "PHASE_DISABLED", disabled_reason: "manutenção" }), context());
    expect(text).toMatchObject({ stage: "disabled", detail: "Motivo: manutenção" });
  });

  it("waits for players only where nobody sits", () => {
    expect(phaseText(table({}), context()).headline).toBe("A abrir a jogada");
    expect(phaseText(table({}), context({ seated: false })).headline).toBe("À espera de jogadores");
    expect(phaseText(null, context({ seated: false })).stage).toBe("resting");
  });
});
