// What a round brought is told when it is known, and never before.
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { PlayerRound } from "../../src/api/messages";

vi.mock("../../src/api/platform", () => ({}));
vi.mock("../../src/games", () => ({ GAMES: {} }));

const round = (status: string, staked_cents: string, payout_cents: string) =>
  ({ round: { status }, mode: "MODE_DEMO", staked_cents, payout_cents }) as unknown as PlayerRound;

describe("what a round brought", () => {
  let told: typeof import("../../src/account/round_net");

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    told = await import("../../src/account/round_net");
  });

  it.each([
    ["ROUND_STATUS_SETTLED", "300", "1100", 800, "Ganhou 8 créditos"],
    ["ROUND_STATUS_SETTLED", "300", "0", -300, "Perdeu 3 créditos"],
    ["ROUND_STATUS_SETTLED", "300", "300", 0, "Sem ganho nem perda"],
    ["ROUND_STATUS_VOID", "300", "300", 0, "Nula"],
    ["ROUND_STATUS_IN_PROGRESS", "300", "0", null, "Por concluir"],
  ])("%s, %s staked, %s back", (status, staked, back, net, words) => {
    expect(told.netOf(round(status, staked, back))).toBe(net);
    expect(told.netInWords(round(status, staked, back))).toBe(words);
  });
});
