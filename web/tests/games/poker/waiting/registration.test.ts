// A player registers for a table's session, takes that back, and is told why it is refused.
import "../../../page";
import { beforeEach, expect, test, vi } from "vitest";
import { Refusal } from "../../../../src/api/refusal";
import { Registration } from "../../../../src/games/poker/waiting/registration";

const call = vi.fn(
  async (method: string): Promise<object> => ({
    registration: { registered: method.endsWith("RegisterForPeriod"), players: 3 },
  }),
);
let registration: Registration;

beforeEach(() => {
  call.mockClear();
  registration = new Registration("t", "MODE_REAL", { call } as never);
});

test("the platform's word counts, and not the click", async () => {
  expect(registration.known.value).toBeNull();
  await registration.read();
  expect(registration.known.value).toEqual({ registered: false, players: 3 });
  await registration.register();
  expect(registration.known.value).toEqual({ registered: true, players: 3 });
  await registration.cancel();
  expect(registration.known.value).toEqual({ registered: false, players: 3 });
  expect(call.mock.calls.map(([method]) => method)).toEqual([
    "PokerService.GetPeriodRegistration",
    "PokerService.RegisterForPeriod",
    "PokerService.CancelPeriodRegistration",
  ]);
});

test("a second click while the first is under way sends nothing", async () => {
  await Promise.all([registration.register(), registration.register()]);
  expect(call).toHaveBeenCalledTimes(1);
});

test("a refusal is told, and goes with the next answer", async () => {
  call.mockRejectedValueOnce(new Refusal("PERIOD_BEGUN", {}, "", ""));
  await registration.register();
  expect(registration.refused.value).not.toBe("");
  expect(registration.known.value).toBeNull();
  await registration.read();
  expect(registration.refused.value).toBe("");
});
