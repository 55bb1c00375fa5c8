// Every folder of `src` says in one sentence what lives there, and stays small enough to read.
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

// A module's styles lie beside it.
const MOST_FILES = 14;
const SOURCES = new URL("../src/", import.meta.url);

function rooms(folder = ""): string[] {
  const entries = readdirSync(new URL(`./${folder}`, SOURCES), { withFileTypes: true });
  const here = folder && entries.some((entry) => entry.isFile()) ? [folder] : [];
  return [...here, ...entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => rooms(`${folder}${name}/`))];
}

test.each(rooms())("%s", (room) => {
  const files = readdirSync(new URL(room, SOURCES), { withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name)).toContain("README.md");
  expect(readFileSync(new URL(`${room}README.md`, SOURCES), "utf8")).toMatch(/^[A-Z].*\.\n$/);
  expect(files.length - 1).toBeLessThanOrEqual(MOST_FILES);
});
