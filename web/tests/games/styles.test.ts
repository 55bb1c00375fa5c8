// All games' styles are on the page together: no two games style the same class, nor name the same movement.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const GAMES = new URL("../../src/games/", import.meta.url);
const FRAME = new URL("../../src/", import.meta.url);
// A class that stands for itself; one that only qualifies another, as in `.chip.lost`, does not count.
const OWN_CLASS = /(?<![\w)\]])\.([a-z][\w-]*)/g;
const MOVEMENT = /@keyframes\s+([\w-]+)/g;

function namesIn(folder: URL, files: readonly string[]): Set<string> {
  const styles = files
    .filter((file) => file.endsWith(".css"))
    .map((file) => readFileSync(new URL(file, folder), "utf8"));
  // Numbers such as `.5s` are no classes, nor is what a comment says.
  const text = styles.join("\n").replace(/\/\*[\s\S]*?\*\//g, "");
  return new Set([...text.matchAll(OWN_CLASS), ...text.matchAll(MOVEMENT)].map((found) => found[1] as string));
}

const games = readdirSync(GAMES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const frame = namesIn(
  FRAME,
  readdirSync(FRAME, { recursive: true, encoding: "utf8" }).filter((file) => !file.startsWith("games")),
);
const own = games.map(({ name }) => {
  const folder = new URL(`${name}/`, GAMES);
  const names = namesIn(folder, readdirSync(folder, { recursive: true, encoding: "utf8" }));
  return { name, names: new Set([...names].filter((each) => !frame.has(each))) };
});

test("there are styles to compare", () => {
  for (const { names } of own) expect(names.size).toBeGreaterThan(20);
});

test.each(own)("$name shares no class with another game", ({ name, names }) => {
  for (const other of own) {
    if (other.name === name) continue;
    expect([...names].filter((each) => other.names.has(each))).toEqual([]);
  }
});
