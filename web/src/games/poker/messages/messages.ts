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
    "PokerService.ExportHand": [{ table_id: string; round_id: string }, Schemas["poker.v1.ExportHandResponse"]];
  }
}

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
