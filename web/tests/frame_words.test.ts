// The frame knows no game: no word of one stands outside its folder, neither in texts nor in names.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SOURCES = new URL("../src/", import.meta.url);
// Registers the games, and is made from the contracts of all of them.
const KNOWS_GAMES = /^(games\/|games\.ts$|api\/schema\.d\.ts$)/;
// Parts of words too: names are written together.
const GAME_WORD =
  /roulette|roleta|wheel|cilindro|ball|bola|spin|launch|lança|pocket|encarnado|preto|racetrack|dozen|d[uú]zia|blackjack|baccarat|bacará|poker/i;

const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
  (file) => /\.(tsx?|css|md)$/.test(file) && !KNOWS_GAMES.test(file),
);

test("the frame has files", () => {
  expect(files.length).toBeGreaterThan(100);
});

test.each(files)("%s", (file) => {
  const lines = readFileSync(new URL(file, SOURCES), "utf8").split("\n");
  expect(lines.filter((line) => GAME_WORD.test(line))).toEqual([]);
});
