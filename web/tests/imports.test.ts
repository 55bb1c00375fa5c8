// The rules of `imports.config.mjs` find what they forbid: a front-end in miniature breaks each of them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseOptions, type ICruiseResult } from "dependency-cruiser";
import { afterEach, beforeEach, expect, test } from "vitest";

type Rules = NonNullable<ICruiseOptions["ruleSet"]> & { options: ICruiseOptions };

const address = new URL("../imports.config.mjs", import.meta.url).href;
const { options, forbidden = [] }: Rules = (await import(address)).default;

// Every file is imported by another, and no rule is broken.
const SOUND: Readonly<Record<string, string>> = {
  "main.tsx": 'import "./games"; import "./lobby/lobby";',
  "games.ts": 'export * from "./games/roulette/entry";',
  "game_interface/game.ts": "export const games = [];",
  "lobby/lobby.ts": 'import "../game_interface/game";',
  "table/page/table_page.ts": 'import "../../game_interface/game";',
  "games/roulette/entry.ts": 'export const load = () => import("./game");',
  "games/roulette/game.ts": 'import "./board/board"; import "../../game_interface/game";',
  "games/roulette/board/board.ts": 'import "../bets/bets";',
  "games/roulette/board/cell.ts": 'import "./board";',
  "games/roulette/bets/bets.ts": "export type Bet = number;",
  "games/dice/entry.ts": 'import "../../game_interface/game";',
};

const CASES: readonly (readonly [rule: string, file: string, text: string])[] = [
  ["frame-imports-no-game", "lobby/lobby.ts", 'import "../games/dice/entry";'],
  [
    "frame-imports-no-game",
    "lobby/lobby.ts",
    'import type { Bet } from "../games/roulette/bets/bets"; export type B = Bet;',
  ],
  ["games-know-no-other-game", "games/roulette/bets/bets.ts", 'import "../../dice/entry";'],
  ["games-use-no-page-of-the-frame", "games/roulette/board/board.ts", 'import "../../../table/page/table_page";'],
  ["list-of-games-names-only-entries", "games.ts", 'import "./games/roulette/board/board";'],
  ["rooms-are-acyclic", "games/roulette/bets/bets.ts", 'import type {} from "../board/cell";'],
  ["files-are-acyclic", "games/roulette/board/board.ts", 'import "./cell";'],
  ["imports-resolve", "games/roulette/bets/bets.ts", 'import "./absent";'],
  ["source-imports-no-test", "lobby/lobby.ts", 'import "../../tests/page";'],
  ["every-file-is-used", "lobby/unused.ts", "export const unused = 1;"],
];

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "imports-"));
  write("tests/page.ts", "export const page = 1;");
  for (const [file, text] of Object.entries(SOUND)) write(`src/${file}`, text);
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(file: string, text: string): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function broken(): Promise<string[]> {
  const { tsConfig: _, ...others } = options;
  const found = await cruise(["src"], { ...others, baseDir: folder, validate: true, ruleSet: { forbidden } });
  const { violations } = (found.output as ICruiseResult).summary;
  return [...new Set(violations.map(({ rule }) => rule.name))].sort();
}

test("sources that keep the rules pass", async () => {
  expect(await broken()).toEqual([]);
});

test.each(CASES)("%s is found in %s", async (rule, file, text) => {
  write(`src/${file}`, text);
  expect(await broken()).toContain(rule);
});

test("every rule is broken by a case above", () => {
  expect(new Set(CASES.map(([rule]) => rule))).toEqual(new Set(forbidden.map(({ name }) => name)));
});
