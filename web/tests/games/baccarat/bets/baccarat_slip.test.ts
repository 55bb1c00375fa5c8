// What the page refuses before it asks the platform, by the acceptance vectors of the rulebook (812/2015:13, 15, 26, 40).
import "../../../page";
import { expect, test } from "vitest";
import { NO_BETS, sumBets } from "../../../../src/bets/bets";
import { bettingRules, type Call } from "../../../../src/games/baccarat/bets/baccarat_slip";
import type { SpecificRules } from "../../../../src/games/baccarat/layout/messages";
import { layoutOf } from "../layouts";

const nobody: Call = () => Promise.reject(new Error("nothing is asked"));

function refusal(
  added: Record<string, number>,
  onFelt: Record<string, number> = {},
  rules: Partial<SpecificRules> = {},
) {
  const { refusalFor } = bettingRules("t", layoutOf(rules), nobody);
  return refusalFor(sumBets(Object.entries(added)), onFelt ? sumBets(Object.entries(onFelt)) : NO_BETS);
}

test.each([
  [{ banca: 1000 }, "BETS_TOO_CLOSE"],
  [{ banca: 920 }, "BETS_TOO_CLOSE"],
  [{ banca: 900 }, undefined],
  [{ banca: 1100 }, undefined],
])("beside 1000 on ponto, %o: %s", (added, reason) => {
  const refused = refusal(added, { ponto: 1000 });
  expect(refused?.reason).toBe(reason);
  if (reason) expect(refused?.facts["difference_cents"]).toBe("100");
});

test("the maximum of a chance counts all that lies there", () => {
  for (const [chance, most] of [
    ["ponto", 7000],
    ["banca", 7000],
    ["tie", 1500],
    ["banca-pair", 800],
  ] as const) {
    expect(refusal({ [chance]: most })).toBeNull();
    expect(refusal({ [chance]: most - 100 }, { [chance]: 100 })).toBeNull();
    expect(refusal({ [chance]: 100 }, { [chance]: most })?.reason).toBe("ABOVE_MAXIMUM");
  }
});

test("banca is bet in steps that keep the commission in whole cents", () => {
  expect(refusal({ banca: 110 })?.facts["step_cents"]).toBe("20");
  expect(refusal({ banca: 110 })?.reason).toBe("OFF_STEP");
  expect(refusal({ ponto: 110 })).toBeNull();
});

test("what is below the minimum or not offered is refused", () => {
  expect(refusal({ tie: 99 })?.reason).toBe("BELOW_MINIMUM");
  expect(refusal({ "ponto-pair": 100 }, {}, { without_pairs: true })?.reason).toBe("BET_NOT_OFFERED");
});

test("in Macau no chance has a maximum, and both sides differ by the minimum all the same", () => {
  expect(refusal({ ponto: 5_000_000 }, {}, { macau: true })).toBeNull();
  expect(refusal({ banca: 4_999_940 }, { ponto: 5_000_000 }, { macau: true })?.reason).toBe("BETS_TOO_CLOSE");
});
