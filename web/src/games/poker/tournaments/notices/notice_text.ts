// What a player is told of their tournaments, in words.
import { dictionary } from "../../../../words/language";
import type { OwnTournamentNotice } from "../../messages/messages";
import { placeText } from "../words/places";
import { tableName } from "../words/table_name";

const noticeWords = dictionary(
  {
    startsSoon: "Um torneio em que está inscrito começa dentro de momentos.",
    seated: (table: string, seat: number) => `O torneio começou: está na mesa ${table}, lugar ${seat}.`,
    moved: (table: string, seat: number) => `No torneio, mudou para a mesa ${table}, lugar ${seat}.`,
    asked: "Ficou sem fichas no torneio, e pode fazer rebuy à mesa.",
    ranked: (place: string) => `O torneio acabou para si: ${place} lugar.`,
    paid: "Recebeu um pagamento de um torneio.",
    ticket: "Ganhou um bilhete para outro torneio: está na lista de torneios.",
    ticketReturned: "Pode voltar a usar o seu bilhete.",
    ticketPaid: "O bilhete que ganhou foi pago em dinheiro.",
    cancelled: "Um torneio em que está inscrito foi cancelado.",
  },
  {
    startsSoon: "A tournament that you are registered for starts in a moment.",
    seated: (table: string, seat: number) => `The tournament has begun: you sit at table ${table}, seat ${seat}.`,
    moved: (table: string, seat: number) => `In the tournament you have moved to table ${table}, seat ${seat}.`,
    asked: "You have lost your chips in the tournament, and can rebuy at the table.",
    ranked: (place: string) => `The tournament is over for you: ${place} place.`,
    paid: "You were paid from a tournament.",
    ticket: "You have won a ticket to another tournament: it is in the list of tournaments.",
    ticketReturned: "Your ticket can be used again.",
    ticketPaid: "The ticket that you have won was paid in money.",
    cancelled: "A tournament that you are registered for was cancelled.",
  },
);

/** Empty for what needs no words, or is shown where the player is. */
export function noticeText(notice: OwnTournamentNotice, atItsTable: boolean): string {
  const words = noticeWords();
  switch (notice.event) {
    case "OWN_TOURNAMENT_EVENT_STARTS_SOON":
      return words.startsSoon;
    case "OWN_TOURNAMENT_EVENT_CANCELLED":
      return words.cancelled;
    case "OWN_TOURNAMENT_EVENT_PAID":
      return notice.ticket_tournament_id ? words.ticketPaid : words.paid;
    case "OWN_TOURNAMENT_EVENT_TICKET_ISSUED":
      return words.ticket;
    case "OWN_TOURNAMENT_EVENT_TICKET_RETURNED":
      return words.ticketReturned;
    case "OWN_TOURNAMENT_EVENT_SEATED":
      return atItsTable ? "" : words.seated(tableName(notice.table_id), notice.seat);
    case "OWN_TOURNAMENT_EVENT_MOVED":
      return atItsTable ? "" : words.moved(tableName(notice.table_id), notice.seat);
    case "OWN_TOURNAMENT_EVENT_ASKED_TO_REBUY":
      return atItsTable ? "" : words.asked;
    case "OWN_TOURNAMENT_EVENT_RANKED":
      return atItsTable ? "" : words.ranked(placeText(notice.rank, notice.rank_to || notice.rank));
    default:
      return "";
  }
}
