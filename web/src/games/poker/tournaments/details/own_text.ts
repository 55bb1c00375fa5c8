// How the player stands in a tournament, in words.
import type { TournamentPlayer } from "../../messages/messages";
import { placeOf } from "../words/places";
import { tableName } from "../words/table_name";
import { tournamentWords } from "../words/words";

/** Empty for who has no entry. */
export function ownText(entry: TournamentPlayer | undefined): string {
  const words = tournamentWords().own;
  switch (entry?.standing) {
    case "ENTRY_STANDING_REGISTERED":
      return entry.by_ticket ? words.registeredByTicket : words.registered;
    case "ENTRY_STANDING_WITHDRAWN":
      return entry.by_ticket ? words.ticketReturned : words.withdrawn;
    case "ENTRY_STANDING_PLAYING":
    case "ENTRY_STANDING_ASKED_TO_REBUY":
      return playingText(entry);
    case "ENTRY_STANDING_OUT":
      return [words.out, finalText(entry)].filter(Boolean).join(" ");
    default:
      return "";
  }
}

function playingText(entry: TournamentPlayer): string {
  const words = tournamentWords().own;
  // Who wins is never out, and has no table once the tournament is over.
  if (entry.rank_final) return finalText(entry);
  const asked = entry.standing === "ENTRY_STANDING_ASKED_TO_REBUY";
  return [
    entry.table_id && words.playing(tableName(entry.table_id), entry.seat),
    asked ? words.asked : entry.rank > 0 && words.placeNow(placeOf(entry)),
    entry.away && words.away,
  ]
    .filter(Boolean)
    .join(" ");
}

function finalText(entry: TournamentPlayer): string {
  const words = tournamentWords().own;
  if (!entry.rank_final || !entry.rank) return "";
  return entry.rank_to > entry.rank ? words.shared(placeOf(entry)) : words.place(placeOf(entry));
}
