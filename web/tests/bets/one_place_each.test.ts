// Where a command takes the bets of one place only, clicks on several places become several commands.
import "../page";
import { expect, test } from "vitest";
import { BetSlip, type BetSlipPorts, type BetsCommand, type BettingRules } from "../../src/bets/bet_slip";

const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

test("clicks on several places go place by place, each under its own request id", async () => {
  const asked: BetsCommand[] = [];
  const onFelt: { place: string; amount_cents: string }[] = [];
  const rules: BettingRules = {
    onePlaceEach: true,
    place: async (command) => {
      asked.push(command);
      onFelt.push(...command.bets);
      return { stake: { stake_id: command.request_id, bets: { bets: command.bets } }, on_felt: { bets: [...onFelt] } };
    },
    takeBack: () => Promise.reject(new Error("nothing is taken back")),
    start: async () => ({}),
    refusalFor: () => null,
  };
  let names = 0;
  const ports: BetSlipPorts = {
    requestId: () => `command-${++names}`,
    updateBalance: () => undefined,
    freeBalance: () => null,
    refused: (refusal) => {
      throw refusal;
    },
  };
  const slip = new BetSlip(rules, ports);
  slip.roundOpened("t.1", false);
  slip.placeChip("1", 100);
  slip.placeChip("3", 200);
  slip.placeChip("1", 100);
  await settled();
  expect(asked.map(({ bets }) => bets)).toEqual([
    [{ place: "1", amount_cents: "200" }],
    [{ place: "3", amount_cents: "200" }],
  ]);
  expect(new Set(asked.map(({ request_id }) => request_id)).size).toBe(2);
  expect(Object.fromEntries(slip.accepted.value)).toEqual({ 1: 200, 3: 200 });
  expect(slip.pending.value.size).toBe(0);
  expect([slip.repeats, slip.repeatBlocked.value]).toEqual([false, "no_earlier_bets"]);
});
