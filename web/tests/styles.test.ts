/** Styles: every page may have those of several games at once, so no game styles what another one calls the same. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const GAMES = join(import.meta.dirname, "../src/games");

function styleFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return styleFiles(path);
    return name.endsWith(".css") ? [path] : [];
  });
}

/** The classes that selectors begin with, but for those that name the game: `a` of `.a.b > .c`. */
function leadingClasses(css: string, game: string): Set<string> {
  const plain = css.replace(/\/\*.*?\*\//gs, "");
  const found = new Set<string>();
  for (const [, selector] of plain.matchAll(/([^{}]+)\{/g)) {
    for (const alternative of (selector ?? "").split(",")) {
      const first = alternative.trim().match(/^\.([a-zA-Z][\w-]*)/)?.[1];
      if (first && !alternative.includes(`.${game}`)) found.add(first);
    }
  }
  return found;
}

test("the class that a selector begins with is found", () => {
  const css = "/* .x {} */ .a.b > .c { } @media (x) { .d:hover, .e .f { } } .page:has(.game) { }";
  expect([...leadingClasses(css, "game")]).toEqual(["a", "d", "e"]);
});

test("no class of one game is styled by another", () => {
  const owners = new Map<string, Set<string>>();
  for (const game of readdirSync(GAMES)) {
    const folder = join(GAMES, game);
    if (!statSync(folder).isDirectory()) continue;
    for (const file of styleFiles(folder)) {
      for (const name of leadingClasses(readFileSync(file, "utf8"), game)) {
        owners.set(name, (owners.get(name) ?? new Set()).add(game));
      }
    }
  }
  const shared = [...owners].filter(([, games]) => games.size > 1);
  expect(shared.map(([name, games]) => [name, ...games])).toEqual([]);
});
