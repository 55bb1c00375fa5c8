// The commission on caves, to the cent as the platform takes it (806/2015:17.b, C-28).
import "../../../page";
import { expect, test } from "vitest";
import { caveCharge } from "../../../../src/games/poker/cave/cave_charge";

const CAVE = { commission_mode: "COMMISSION_MODE_CAVE" } as const;

test.each([
  [{ ...CAVE, commission_bps: 1000 }, 10_000, 11_000, 10_000, 1000],
  [{ ...CAVE, commission_bps: 1000 }, 5000, 5500, 5000, 500],
  [{ ...CAVE, commission_bps: 750 }, 3333, 3582, 3333, 249],
  // Rounded down it would be under the 5 % that the law sets.
  [{ ...CAVE, commission_bps: 500 }, 3333, 3500, 3333, 167],
  [{ ...CAVE, commission_bps: 1000, commission_out_of_cave: true }, 10_000, 10_000, 9000, 1000],
  // The default of such a table.
  [CAVE, 10_000, 11_000, 10_000, 1000],
  [{}, 10_000, 10_000, 10_000, 0],
  [{ commission_mode: "COMMISSION_MODE_POT", commission_bps: 500 } as const, 10_000, 10_000, 10_000, 0],
])("%o of %i", (rules, amount, debit_cents, chips_cents, commission_cents) => {
  expect(caveCharge(rules, amount)).toEqual({ debit_cents, chips_cents, commission_cents });
});
