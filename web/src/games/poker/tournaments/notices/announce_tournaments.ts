// Tells players on every page what becomes of them in their tournaments, and brings who waits for the start to the table.
import type { OwnViewChanged } from "../../../../api/messages";
import { onOwnView } from "../../../../api/platform";
import { goTo, type Route, route } from "../../../../browser/routes";
import { notify } from "../../../../design/overlays/toast";
import type { OwnTournamentNotice } from "../../messages/messages";
import { GAME } from "../../words/game_id";
import { tournamentOf } from "../words/table_name";
import { noticeText } from "./notice_text";

const OWN_NOTICE = "type.googleapis.com/feltro.poker.v1.OwnTournamentNotice";

/** Follows what the player alone is told, for as long as the page is open. */
export function announceTournaments(): void {
  onOwnView((own) => {
    const notice = noticeOf(own);
    if (!notice) return;
    const text = noticeText(notice, isAtItsTable(notice, route.peek()));
    if (text) notify(text, notice.event === "OWN_TOURNAMENT_EVENT_CANCELLED" ? "bad" : "plain");
    if (leadsToTable(notice, route.peek())) goTo({ page: "table", tableId: notice.table_id });
  });
}

function noticeOf({ notice }: OwnViewChanged): OwnTournamentNotice | null {
  return notice?.["@type"] === OWN_NOTICE ? (notice as OwnTournamentNotice) : null;
}

/** Who looks at the tournament's page when they are seated goes on at the table. */
export function leadsToTable({ event, table_id, tournament_id }: OwnTournamentNotice, at: Route): boolean {
  const waits = at.page === "game" && at.game === GAME && at.place === tournament_id;
  return event === "OWN_TOURNAMENT_EVENT_SEATED" && table_id !== "" && waits;
}

/** There the table itself shows what has happened. */
export function isAtItsTable({ tournament_id }: OwnTournamentNotice, at: Route): boolean {
  return at.page === "table" && tournamentOf(at.tableId) === tournament_id;
}
