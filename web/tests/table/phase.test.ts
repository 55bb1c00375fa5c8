// What the clock of a table says, phase by phase; it never tells an end before it is there to see.
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { TableSnapshot } from "../../src/api/messages";
import type { Beside } from "../../src/table/phase";

const at = (s: number) => new Date(Date.UTC(2026, 10, 18, 12, 0, s)).toISOString();
const now = (s: number) => Date.parse(at(s));
const table = (fields: object) => ({ phase: "PHASE_RESTING", disabled_reason: "", ...fields }) as TableSnapshot;
const round = { round_id: "t.1", opened_at: at(0), closes_at: at(15) };
const own = { round_id: "t.1", opened_at: at(0) };

describe("the clock of a table", () => {
  let tell: typeof import("../../src/table/phase").tell;
  const beside = (fields: Partial<Beside> = {}): Beside => ({
    individual: false,
    now: now(5),
    unfolding: false,
    seated: true,
    ...fields,
  });

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    ({ tell } = await import("../../src/table/phase"));
  });

  it("counts down to the close, by the time it is given", () => {
    const told = tell(table({ phase: "PHASE_BETTING", round }), beside());
    expect(told).toMatchObject({ stage: "bets", headline: "Façam as vossas apostas" });
    expect([told.remaining_ms, told.window_ms]).toEqual([10_000, 15_000]);
  });

  it("never has more left than there was", () => {
    expect(tell(table({ phase: "PHASE_BETTING", round }), beside({ now: now(0) - 80 })).remaining_ms).toBe(15_000);
  });

  it("never counts below nothing", () => {
    expect(tell(table({ phase: "PHASE_BETTING", round }), beside({ now: now(20) })).remaining_ms).toBe(0);
  });

  it("has no countdown where the player launches the ball", () => {
    const told = tell(table({ phase: "PHASE_BETTING", round: own }), beside({ individual: true }));
    expect(told.stage).toBe("bets");
    expect(told.remaining_ms).toBeUndefined();
  });

  it("says no more bets while the ball rolls, whatever the server is at already", () => {
    for (const phase of ["PHASE_CLOSED", "PHASE_DRAWN"]) {
      expect(tell(table({ phase, round }), beside()).headline).toBe("Jogo feito, nada mais");
    }
    const rolling = beside({ unfolding: true, individual: true });
    expect(tell(table({ phase: "PHASE_SHOWN", round }), rolling).stage).toBe("closed");
    expect(tell(table({ phase: "PHASE_BETTING", round: own }), rolling).stage).toBe("closed");
  });

  it("among others the time to bet is told even while something still moves", () => {
    expect(tell(table({ phase: "PHASE_BETTING", round }), beside({ unfolding: true })).stage).toBe("bets");
  });

  it("says when the next round opens", () => {
    const told = tell(table({ phase: "PHASE_SHOWN", round }), beside({ nextRoundAt: at(9) }));
    expect(told).toMatchObject({ stage: "shown", detail: "Próxima jogada dentro de 4 s" });
  });

  it("reckons when the next round opens for whoever came after that was told", () => {
    const shown = (drawn_at: string) =>
      table({ phase: "PHASE_SHOWN", configuration: { result_shown_ms: 8000 }, past: [{ round_id: "t.1", drawn_at }] });
    expect(tell(shown(at(3)), beside()).detail).toBe("Próxima jogada dentro de 6 s");
    // An older one says nothing of the round that is shown, which is void.
    expect(tell(shown(at(-20)), beside())).toMatchObject({ stage: "shown", detail: "" });
  });

  it("says a void round in the platform's own words", () => {
    const voidWords = { pt: "Ocorreu um erro.", en: "An error occurred." };
    const told = tell(table({ phase: "PHASE_SHOWN", round }), beside({ voidWords }));
    expect(told).toMatchObject({ stage: "void", detail: "Ocorreu um erro." });
  });

  it("says why a table is switched off", () => {
    const told = tell(table({ phase: "PHASE_DISABLED", disabled_reason: "manutenção" }), beside());
    expect(told).toMatchObject({ stage: "disabled", detail: "Motivo: manutenção" });
  });

  it("waits for players only where nobody sits", () => {
    expect(tell(table({}), beside()).headline).toBe("A abrir a jogada");
    expect(tell(table({}), beside({ seated: false })).headline).toBe("À espera de jogadores");
    expect(tell(null, beside({ seated: false })).stage).toBe("resting");
  });
});
