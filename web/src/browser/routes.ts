// Which page the address names. Routes are behind the `#`, so that any server can serve the page.
import { computed, signal } from "@preact/signals";

export type Route =
  | { page: "lobby" }
  | { page: "table"; tableId: string }
  /** A page of a game's own; `place` is what the game calls it. */
  | { page: "game"; game: string; place: string }
  | { page: "account"; part: "rounds" | "sessions" | "complaints" | "money" };

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export const route = computed<Route>(() => parseRoute(hash.value));

export function parseRoute(text: string): Route {
  const [page, rest, place] = text.replace(/^#\/?/, "").split("/", 3).map(decodeURIComponent);
  if (page === "table" && rest) return { page, tableId: rest };
  if (page === "game" && rest && place) return { page, game: rest, place };
  if (page === "account") {
    const part = rest === "sessions" || rest === "complaints" || rest === "money" ? rest : "rounds";
    return { page, part };
  }
  return { page: "lobby" };
}

export function addressOf(to: Route): string {
  if (to.page === "table") return `#/table/${encodeURIComponent(to.tableId)}`;
  if (to.page === "game") return `#/game/${encodeURIComponent(to.game)}/${encodeURIComponent(to.place)}`;
  return to.page === "account" ? `#/account/${to.part}` : "#/";
}

export function goTo(to: Route): void {
  location.hash = addressOf(to);
}
