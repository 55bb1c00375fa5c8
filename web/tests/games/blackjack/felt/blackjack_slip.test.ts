// The limits of bets, place by place (805/2015:7, 9), and how bets are sent: one place with each command.
import "../../../page";
import { expect, test, vi } from "vitest";
import { blackjackSlip, refusalFor } from "../../../../src/games/blackjack/felt/blackjack_slip";
import type { SpecificRules } from "../../../../src/games/blackjack/messages/messages";

const RULES: SpecificRules = { places: 7, minimum_cents: "500", maximum_cents: "50000" };
const free = () => false;
const bets = (...placed: [string, number][]) => new Map(placed);

test.each([
  ["BELOW_MINIMUM", bets(["1", 100]), bets()],
  ["ABOVE_MAXIMUM", bets(["1", 500]), bets(["1", 50_000])],
  ["TOO_MANY_PLACES", bets(["2", 500]), bets(["1", 500])],
])("%s", (reason, added, onFelt) => {
  expect(refusalFor(RULES, free, added, onFelt)?.reason).toBe(reason);
});

test("another player's place", () => {
  expect(refusalFor(RULES, (place) => place === 4, bets(["4", 500]), bets())?.reason).toBe("PLACE_TAKEN");
});

test("what keeps the limits is not refused", () => {
  expect(refusalFor(RULES, free, bets(["1", 500]), bets(["1", 500]))).toBeNull();
  expect(refusalFor({ ...RULES, places_per_player: 3 }, free, bets(["2", 500]), bets(["1", 500]))).toBeNull();
});

test("the last bets are repeated with a command for each place, and each has a name of its own", async () => {
  const call = vi.fn(async (_method: string, _params: object) => ({ stake: undefined, on_felt: { bets: [] } }));
  let ids = 0;
  const slip = blackjackSlip(
    "t",
    { ...RULES, places_per_player: 2 },
    {
      call: call as never,
      requestId: () => `id-${++ids}`,
      updateBalance: () => undefined,
      freeBalance: () => null,
      refused: (refusal) => {
        throw refusal;
      },
      lastBets: () => bets(["2", 1000], ["5", 500]),
      taken: free,
    },
  );
  slip.roundOpened("r", false);
  slip.repeat();
  await vi.waitFor(() => expect(call).toHaveBeenCalledTimes(2));
  expect(call.mock.calls.map(([method, params]) => [method, params])).toEqual([
    [
      "BlackjackService.PlaceBets",
      { table_id: "t", round_id: "r", request_id: "id-1", bets: [{ place: "2", amount_cents: "1000" }] },
    ],
    [
      "BlackjackService.PlaceBets",
      { table_id: "t", round_id: "r", request_id: "id-2", bets: [{ place: "5", amount_cents: "500" }] },
    ],
  ]);
});
