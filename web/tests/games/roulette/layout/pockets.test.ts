// The wheels that the page draws are the platform's own.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pocketsOf } from "../../../../src/games/roulette/layout/pockets";

const engine = readFileSync(new URL("../../../../../services/roulette/wheel.py", import.meta.url), "utf8");

test.each(["WHEEL_AMERICAN_37", "WHEEL_AMERICAN_38", "WHEEL_FRENCH"] as const)("%s has the engine's order", (name) => {
  const order = pocketsOf(name).map(({ number }) => number);
  expect(engine).toContain(`"${order.join(" ")}"`);
  expect(new Set(order).size).toBe(name === "WHEEL_AMERICAN_38" ? 38 : 37);
});

test("the colours are the engine's", () => {
  for (const [name, colour] of [
    ["RED", "COLOUR_RED"],
    ["BLACK", "COLOUR_BLACK"],
  ] as const) {
    const listed = new RegExp(`${name} = frozenset\\(_numbers\\("([^"]+)"`).exec(engine)?.[1];
    const numbers = pocketsOf("WHEEL_AMERICAN_38").filter((pocket) => pocket.colour === colour);
    expect(numbers.map(({ number }) => Number(number)).sort((a, b) => a - b)).toEqual(listed?.split(" ").map(Number));
  }
});
