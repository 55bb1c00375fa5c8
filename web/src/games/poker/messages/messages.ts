// Short names for poker's messages, and its methods on the WebSocket.
import type { Any, Command } from "../../../api/messages";
import type { components } from "../../../api/schema";

type Schemas = components["schemas"];

declare module "../../../api/messages" {
  interface Methods {
    "PokerService.GetLayout": [{ table_id: string }, Schemas["poker.v1.GetLayoutResponse"]];
    "PokerService.BuyIn": [
      Command<Schemas["poker.v1.BuyInRequest.Request"]> & { table_id: string },
      Schemas["poker.v1.BuyInResponse"],
    ];
    "PokerService.SetPresence": [
      Schemas["poker.v1.SetPresenceRequest.Request"] & { table_id: string },
      Schemas["poker.v1.SetPresenceResponse"],
    ];
    "PokerService.JoinWaitingList": [{ table_id: string }, Schemas["poker.v1.JoinWaitingListResponse"]];
    "PokerService.LeaveWaitingList": [{ table_id: string }, Schemas["poker.v1.LeaveWaitingListResponse"]];
    "PokerService.RegisterForPeriod": [{ table_id: string }, Schemas["poker.v1.RegisterForPeriodResponse"]];
    "PokerService.CancelPeriodRegistration": [
      { table_id: string },
      Schemas["poker.v1.CancelPeriodRegistrationResponse"],
    ];
    "PokerService.GetPeriodRegistration": [{ table_id: string }, Schemas["poker.v1.GetPeriodRegistrationResponse"]];
    "TournamentService.ListTournaments": [
      Partial<Schemas["poker.v1.ListTournamentsRequest.Request"]>,
      Schemas["poker.v1.ListTournamentsResponse"],
    ];
    "TournamentService.GetTournament": [{ tournament_id: string }, Schemas["poker.v1.GetTournamentResponse"]];
    "TournamentService.ListTournamentPlayers": [
      { tournament_id: string; page_size?: number; page_token?: string },
      Schemas["poker.v1.ListTournamentPlayersResponse"],
    ];
    "TournamentService.Register": [TournamentCommand & { ticket_id?: string }, Schemas["poker.v1.RegisterResponse"]];
    "TournamentService.Unregister": [TournamentCommand, Schemas["poker.v1.UnregisterResponse"]];
    "TournamentService.Rebuy": [TournamentCommand, Schemas["poker.v1.RebuyResponse"]];
    "TournamentService.AddOn": [TournamentCommand, Schemas["poker.v1.AddOnResponse"]];
    "TournamentService.DeclineRebuy": [{ tournament_id: string }, Schemas["poker.v1.DeclineRebuyResponse"]];
    "TournamentService.SetTournamentPresence": [
      { tournament_id: string; away: boolean },
      Schemas["poker.v1.SetTournamentPresenceResponse"],
    ];
    "TicketService.ListTickets": [
      { account_id: string; open_only?: boolean; page_size?: number },
      Schemas["wallet.v1.ListTicketsResponse"],
    ];
    "PokerService.ExportHand": [{ table_id: string; round_id: string }, Schemas["poker.v1.ExportHandResponse"]];
  }
}

/** A command about a tournament: it acts once per `request_id`. */
export type TournamentCommand = Command<{ tournament_id: string }>;

export type TournamentSummary = Schemas["poker.v1.TournamentSummary"];
export type TournamentRules = Schemas["poker.v1.TournamentRules"];
export type TournamentLevel = Schemas["poker.v1.TournamentLevel"];
export type TournamentPrice = Schemas["poker.v1.TournamentPrice"];
export type TournamentPrizes = Schemas["poker.v1.TournamentPrizes"];
export type TournamentPlayer = Schemas["poker.v1.TournamentPlayer"];
/** An entry that the player has won, to one tournament. */
export type Ticket = Schemas["wallet.v1.Ticket"];
/** A ticket with which the player can enter the tournament that is shown. */
export type OwnTicket = Schemas["poker.v1.OwnTicket"];
export type OwnTournament = Schemas["poker.v1.OwnTournament"];
/** What everybody at a table of a tournament is told of it. */
export type TournamentNotice = Schemas["poker.v1.TournamentNotice.Any"];
/** What has become of a player in a tournament, told to that player alone. */
export type OwnTournamentNotice = Schemas["poker.v1.OwnTournamentNotice.Any"];

export type Street = Schemas["poker.v1.Street"];
export type Combination = Schemas["poker.v1.Combination"];
/** Whether a seated player wants to be dealt in. */
export type Presence = Schemas["poker.v1.Presence.Value"];
export type SeatView = Schemas["poker.v1.SeatView"];
export type Pot = Schemas["poker.v1.Pot"];
export type Legal = Schemas["poker.v1.Legal"];
export type Payment = Schemas["poker.v1.Payment"];
export type View = Schemas["poker.v1.View.Any"];
export type OwnView = Schemas["poker.v1.OwnView.Any"];
export type Outcome = Schemas["poker.v1.Outcome.Any"];
export type Layout = Schemas["poker.v1.GetLayoutResponse"];

/** A decision that a player can make. */
export type Action = Exclude<Schemas["poker.v1.Action"], "ACTION_UNSPECIFIED">;

/** Poker's part of a table's specific rules; a number left at 0 means the default. */
export type SpecificRules = Partial<Schemas["poker.v1.SpecificRules.Any"]>;

const MOVE = "type.googleapis.com/feltro.poker.v1.Move";

/** A decision as `TableService.Act` takes it, and as rounds record it. */
export interface Move extends Any {
  action: Action;
  /** Of a raise: what the player's bet in this round becomes. */
  to_cents: string;
}

export function moveMessage(action: Action, to_cents = 0): Move {
  return { "@type": MOVE, action, to_cents: String(to_cents) };
}
