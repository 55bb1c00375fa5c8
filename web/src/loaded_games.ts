// Games as they have been fetched so far.
import { signal } from "@preact/signals";
import { GAMES, type Game } from "./games";

const loaded = signal<Readonly<Record<string, Game>>>({});
const asked = new Set<string>();

/** All of them, before anybody asks: the lobby shows something of each. */
export function fetchGames(): void {
  for (const name of Object.keys(GAMES)) gameOf(name);
}

/** The game, once it is here; asking is what fetches it. */
export function gameOf(name: string | undefined): Game | null {
  if (!name) return null;
  const here = loaded.value[name];
  if (here) return here;
  const fetch = GAMES[name];
  if (fetch && !asked.has(name)) {
    asked.add(name);
    fetch().then(
      ({ game }) => {
        loaded.value = { ...loaded.value, [name]: game };
      },
      () => asked.delete(name),
    );
  }
  return null;
}
