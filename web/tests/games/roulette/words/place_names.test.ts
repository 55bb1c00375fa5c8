// Every place of all three boards has a name in both languages.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, test, vi } from "vitest";
import { board } from "../boards";

type Words = typeof import("../../../../src/games/roulette/words/place_names");
let words: Words;
let speak: (language: "pt" | "en") => void;

beforeAll(async () => {
  vi.stubGlobal("document", { documentElement: {} });
  const { language } = await import("../../../../src/words/language");
  words = await import("../../../../src/games/roulette/words/place_names");
  speak = (spoken) => {
    language.value = spoken;
  };
});

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
    const names = all.map((place) => words.placeName(place));
    expect(new Set(names).size).toBe(all.length);
    for (const name of names) expect(name).toMatch(/^[A-ZÍÓ0-9]/);
    expect(names.filter((name, no) => name === all[no])).toEqual([]);
    expect(names.join()).not.toMatch(/undefined|NaN|KIND/);
  });
});

test("names are a croupier's", () => {
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
  for (const [place, name] of Object.entries(names)) expect(words.placeName(place)).toBe(name);
  speak("en");
  expect(words.placeName("dozen-2")).toBe("2nd dozen (13–24)");
  expect(words.placeName("double-column-2-3")).toBe("Double column: 2nd and 3rd (of 35 and 36)");
  expect(words.kindName("KIND_SIX_LINE")).toBe("Six-line");
  speak("pt");
});

test("every kind of the contract has a name", () => {
  const proto = readFileSync(
    new URL("../../../../../protos/feltro/roulette/v1/roulette.proto", import.meta.url),
    "utf8",
  );
  const kinds = [...proto.matchAll(/^ {2}(KIND_\w+) = [1-9]/gm)].map((found) => found[1] as never);
  expect(kinds.length).toBe(15);
  for (const kind of kinds) expect(words.kindName(kind)).toMatch(/^[A-ZÍ]/);
});
