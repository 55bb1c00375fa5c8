// What becomes of a player in a tournament is told wherever they are, once, and brings who waits to the table.
import "../../../page";
import { beforeEach, expect, test, vi } from "vitest";
import type { Route } from "../../../../src/browser/routes";
import type { OwnTournamentNotice } from "../../../../src/games/poker/messages/messages";

vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("addEventListener", () => undefined);
const { isAtItsTable, leadsToTable } = await import(
  "../../../../src/games/poker/tournaments/notices/announce_tournaments"
);
const { noticeText } = await import("../../../../src/games/poker/tournaments/notices/notice_text");
const { addressOf, parseRoute } = await import("../../../../src/browser/routes");
const { language } = await import("../../../../src/words/language");

const PAGE: Route = { page: "game", game: "poker", place: "sunday" };
const TABLE: Route = { page: "table", tableId: "sunday-t3" };

function notice(event: string, changed: Partial<OwnTournamentNotice> = {}): OwnTournamentNotice {
  return {
    "@type": "type.googleapis.com/feltro.poker.v1.OwnTournamentNotice",
    tournament_id: "sunday",
    event: `OWN_TOURNAMENT_EVENT_${event}` as OwnTournamentNotice["event"],
    table_id: "",
    seat: 0,
    rank: 0,
    rank_to: 0,
    amount_cents: "0",
    ticket_tournament_id: "",
    ...changed,
  };
}

beforeEach(() => {
  language.value = "pt";
});

test("who waits on the tournament's page is brought to the table, and nobody else", () => {
  const seated = notice("SEATED", { table_id: "sunday-t3", seat: 4 });
  expect(leadsToTable(seated, PAGE)).toBe(true);
  expect(leadsToTable(seated, { ...PAGE, place: "monday" })).toBe(false);
  expect(leadsToTable(seated, { page: "table", tableId: "other" })).toBe(false);
  expect(leadsToTable(notice("STARTS_SOON"), PAGE)).toBe(false);
});

test("the table itself shows what happens there", () => {
  expect(isAtItsTable(notice("RANKED"), TABLE)).toBe(true);
  expect(isAtItsTable(notice("RANKED"), { page: "table", tableId: "monday-t3" })).toBe(false);
  expect(noticeText(notice("RANKED", { rank: 5, rank_to: 6 }), true)).toBe("");
  expect(noticeText(notice("RANKED", { rank: 5, rank_to: 6 }), false)).toContain("5.º–6.º lugar");
  expect(noticeText(notice("SEATED", { table_id: "sunday-t3", seat: 4 }), false)).toContain("mesa 3, lugar 4");
});

test("start, cancellation and payment are told everywhere", () => {
  for (const event of ["STARTS_SOON", "CANCELLED", "PAID", "TICKET_ISSUED", "TICKET_RETURNED"]) {
    for (const spoken of ["pt", "en"] as const) {
      language.value = spoken;
      expect(noticeText(notice(event), true)).toMatch(/^[A-Z].*\.$/);
      expect(noticeText(notice(event), false)).toBe(noticeText(notice(event), true));
    }
  }
  expect(noticeText(notice("ELIMINATED"), false)).toBe("");
});

test("a won entry that was paid in money is told as such", () => {
  language.value = "pt";
  const paid = notice("PAID", { ticket_tournament_id: "monday" });
  expect(noticeText(paid, false)).toContain("pago em dinheiro");
});

test("a game's page has an address, whatever its place is called", () => {
  for (const place of ["sunday", "a/b c"])
    expect(parseRoute(addressOf({ ...PAGE, place }))).toEqual({ ...PAGE, place });
  expect(parseRoute("#/game/poker")).toEqual({ page: "lobby" });
});
