// Words on the cloth have enough contrast (WCAG 1.4.3), pointed at or not: axe does not check text in pictures.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Colour = readonly [red: number, green: number, blue: number];

const LEAST = 4.5;
const read = (file: string) => readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");
const tokens = read("design/tokens.css") + read("games/roulette/layout/colours.css");
// How much lighter the cloth is under the lamp (roulette_table.css).
const LAMP = 0.09;

function token(name: string): string {
  return tokens.match(new RegExp(`--${name}: ([^;]+);`))?.[1] ?? "";
}

function solid(name: string): Colour {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(token(name).slice(at, at + 2), 16));
  return [red, green, blue];
}

function through(veil: Colour, share: number, ground: Colour): Colour {
  const mixed = (at: 0 | 1 | 2) => share * veil[at] + (1 - share) * ground[at];
  return [mixed(0), mixed(1), mixed(2)];
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Colour, other: Colour): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test.each(["red", "black", "zero", "red-lit", "black-lit", "zero-lit", "felt", "felt-deep"])("on %s", (ground) => {
  expect(contrast(solid("on-felt"), solid(ground))).toBeGreaterThanOrEqual(LEAST);
});

test("on a box, lit and not, in the lamp's light", () => {
  const cloth = through([255, 255, 255], LAMP, solid("felt"));
  expect(contrast(solid("on-felt"), cloth)).toBeGreaterThanOrEqual(LEAST);
  const [red, green, blue, share] = (token("box-lit").match(/[\d.]+/g) ?? []).map(Number);
  const lit = through([red ?? 0, green ?? 0, blue ?? 0], share ?? 1, cloth);
  expect(contrast(solid("on-felt"), lit)).toBeGreaterThanOrEqual(LEAST);
});

test("no board has colours of its own beneath its words", () => {
  for (const file of ["board/board", "racetrack/racetrack"]) {
    const css = read(`games/roulette/${file}.css`);
    expect(css).toMatch(/\.lit/);
    expect(css).not.toMatch(/fill: #/);
  }
});
