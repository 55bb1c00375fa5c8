// Every place of all three boards has a name in both languages, and is read as what it is.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, test, vi } from "vitest";

type Words = typeof import("../../../src/games/roulette/place_words");
let said: Words;
let speak: (language: "pt" | "en") => void;

beforeAll(async () => {
  vi.stubGlobal("document", { documentElement: {} });
  const { language } = await import("../../../src/words/language");
  said = await import("../../../src/games/roulette/place_words");
  speak = (spoken) => {
    language.value = spoken;
  };
});

/** The places of a board, from the shapes of 3.2 of the rulebook. */
function board(zeros: 1 | 2): string[] {
  const numbers = Array.from({ length: 36 }, (_, at) => at + 1);
  const around =
    zeros === 1
      ? ["0", "0-1", "0-2", "0-3", "0-1-2", "0-2-3", "0-1-2-3"]
      : ["0", "00", "0-00", "0-1", "0-2", "00-2", "00-3", "0-1-2", "0-00-2", "00-2-3"];
  return [
    ...around,
    ...numbers.map(String),
    ...numbers.filter((n) => n % 3).map((n) => `${n}-${n + 1}`),
    ...numbers.filter((n) => n <= 33).map((n) => `${n}-${n + 3}`),
    ...numbers.filter((n) => n % 3 === 1).map((n) => `${n}-${n + 1}-${n + 2}`),
    ...numbers.filter((n) => n % 3 && n <= 32).map((n) => `${n}-${n + 1}-${n + 3}-${n + 4}`),
    ...numbers.filter((n) => n % 3 === 1 && n < 34).map((n) => [0, 1, 2, 3, 4, 5].map((more) => n + more).join("-")),
    ...["dozen-1", "dozen-2", "dozen-3", "column-1", "column-2", "column-3"],
    ...["double-dozen-1-2", "double-dozen-2-3", "double-column-1-2", "double-column-2-3"],
    ...["even", "odd", "low", "high", "red", "black"],
  ];
}

const CALLED = [
  ...["voisins", "tiers", "orphelins"],
  ...Array.from({ length: 37 }, (_, n) => [2, 4, 6].map((neighbours) => `neighbours-${n}-${neighbours}`)).flat(),
  ...Array.from({ length: 10 }, (_, digit) => `final-${digit}`),
];

test("the boards are as large as the rulebook says", () => {
  expect(new Set(board(1)).size).toBe(161);
  expect(new Set(board(2)).size).toBe(164);
});

describe.each(["pt", "en"] as const)("in %s", (spoken) => {
  it("every place and call bet has a name of its own, in words", () => {
    speak(spoken);
    const all = [...new Set([...board(1), ...board(2), ...CALLED])];
    const names = all.map((place) => said.placeName(place));
    expect(new Set(names).size).toBe(all.length);
    for (const name of names) expect(name).toMatch(/^[A-ZÍÓ0-9]/);
    expect(names.filter((name, no) => name === all[no])).toEqual([]);
    expect(names.join()).not.toMatch(/undefined|NaN|KIND/);
  });
});

test("names are as a croupier says them", () => {
  speak("pt");
  const names = {
    "17": "Pleno 17",
    "00": "Pleno 00",
    "17-20": "Cavalo 17-20",
    "0-2-3": "Rua 0-2-3",
    "25-26-28-29": "Quadro 25-26-28-29",
    "13-14-15-16-17-18": "Linha 13–18",
    "dozen-1": "1.ª dúzia (1–12)",
    "dozen-3": "3.ª dúzia (25–36)",
    "column-2": "2.ª coluna (do 35)",
    "double-dozen-2-3": "Cavalo de dúzia: 2.ª e 3.ª (13–36)",
    "double-column-1-2": "Cavalo de coluna: 1.ª e 2.ª (do 34 e do 35)",
    odd: "Ímpar",
    low: "Menor (1–18)",
    high: "Maior (19–36)",
    red: "Encarnado",
    voisins: "Vizinhos do zero",
    "neighbours-17-4": "17 e 4 vizinhos",
    "final-7": "Finais em 7",
  };
  for (const [place, name] of Object.entries(names)) expect(said.placeName(place)).toBe(name);
  speak("en");
  expect(said.placeName("dozen-2")).toBe("2nd dozen (13–24)");
  expect(said.placeName("double-column-2-3")).toBe("Double column: 2nd and 3rd (of 35 and 36)");
  expect(said.kindName("KIND_SIX_LINE")).toBe("Six-line");
  speak("pt");
});

test("what a place covers is what the kind says", () => {
  const sizes: Record<string, number> = {
    KIND_STRAIGHT: 1,
    KIND_SPLIT: 2,
    KIND_STREET: 3,
    KIND_CORNER: 4,
    KIND_SIX_LINE: 6,
    KIND_DOZEN: 12,
    KIND_COLUMN: 12,
    KIND_DOUBLE_DOZEN: 24,
    KIND_DOUBLE_COLUMN: 24,
  };
  for (const place of [...board(1), ...board(2)]) {
    const kind = said.kindOf(place);
    expect(kind, place).not.toBeNull();
    expect(said.numbersOf(place).length, place).toBe(sizes[kind ?? ""] ?? 18);
  }
  expect(said.numbersOf("double-column-2-3").slice(0, 4)).toEqual(["2", "3", "5", "6"]);
  expect(said.kindOf("voisins")).toBeNull();
});

test("every kind of the contract has a name", () => {
  const proto = readFileSync(new URL("../../../../protos/feltro/roulette/v1/roulette.proto", import.meta.url), "utf8");
  const kinds = [...proto.matchAll(/^ {2}(KIND_\w+) = [1-9]/gm)].map((found) => found[1] as never);
  expect(kinds.length).toBe(15);
  for (const kind of kinds) expect(said.kindName(kind)).toMatch(/^[A-ZÍ]/);
});
