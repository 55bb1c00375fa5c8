// The games of this front-end, and those of them that have been fetched.
import { signal } from "@preact/signals";
import type { Game, GameEntry } from "./game";

const loaded = signal<Readonly<Record<string, Game>>>({});
const requested = new Set<string>();
let entries: Readonly<Record<string, GameEntry>> = {};

/** Called once, before the page is shown. */
export function registerGames(games: Readonly<Record<string, GameEntry>>): void {
  entries = games;
}

/** The games' names in the API, in the order in which they were registered. */
export function gameIds(): string[] {
  return Object.keys(entries);
}

export function gameEntry(id: string | undefined): GameEntry | undefined {
  return id === undefined ? undefined : entries[id];
}

/** The game's name in the player's language. */
export function gameName(id: string): string {
  return entries[id]?.texts().name ?? id;
}

/** Fetches every game at once: the lobby shows something of each. */
export function fetchGames(): void {
  for (const id of gameIds()) loadedGame(id);
}

/** The game, or null while it is being fetched; the first call fetches it. */
export function loadedGame(id: string | undefined): Game | null {
  if (!id) return null;
  const game = loaded.value[id];
  if (game) return game;
  const entry = entries[id];
  if (entry && !requested.has(id)) {
    requested.add(id);
    entry.load().then(
      (fetched) => {
        fetched.game.begin?.();
        loaded.value = { ...loaded.value, [id]: fetched.game };
      },
      // The next call tries again.
      () => requested.delete(id),
    );
  }
  return null;
}
