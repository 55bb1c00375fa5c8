// The net result of a round, once it is known.
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { PlayerRound } from "../../src/api/messages";

vi.mock("../../src/api/platform", () => ({}));

const round = (state: string, staked_cents: string, payout_cents: string) =>
  ({ round: { state }, mode: "MODE_DEMO", staked_cents, payout_cents }) as unknown as PlayerRound;

describe("the net result of a round", () => {
  let roundNets: typeof import("../../src/rounds/round_net");

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    roundNets = await import("../../src/rounds/round_net");
  });

  it.each([
    ["ROUND_STATE_SETTLED", "300", "1100", 800, "Ganhou 8 créditos"],
    ["ROUND_STATE_SETTLED", "300", "0", -300, "Perdeu 3 créditos"],
    ["ROUND_STATE_SETTLED", "300", "300", 0, "Sem ganho nem perda"],
    ["ROUND_STATE_VOID", "300", "300", 0, "Nula"],
    ["ROUND_STATE_OPEN", "300", "0", null, "Por concluir"],
  ])("%s, %s staked, %s back", (state, staked, back, net, words) => {
    expect(roundNets.roundNet(round(state, staked, back))).toBe(net);
    expect(roundNets.roundNetText(round(state, staked, back))).toBe(words);
  });
});
