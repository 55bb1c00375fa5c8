// Short names for blackjack's messages, and its methods on the WebSocket.
import type { Any, Command } from "../../../api/messages";
import type { components } from "../../../api/schema";

type Schemas = components["schemas"];

declare module "../../../api/messages" {
  interface Methods {
    "BlackjackService.GetLayout": [{ table_id: string }, Schemas["blackjack.v1.GetLayoutResponse"]];
    "BlackjackService.PlaceBets": [
      Command<Schemas["blackjack.v1.PlaceBetsRequest.Request"]> & { table_id: string },
      Schemas["blackjack.v1.PlaceBetsResponse"],
    ];
    "BlackjackService.CancelBets": [
      Command<Schemas["blackjack.v1.CancelBetsRequest.Request"]> & { table_id: string },
      Schemas["blackjack.v1.CancelBetsResponse"],
    ];
    "BlackjackService.Deal": [
      Schemas["blackjack.v1.DealRequest.Request"] & { table_id: string },
      Schemas["blackjack.v1.DealResponse"],
    ];
  }
}

export type Hand = Schemas["blackjack.v1.Hand"];
export type HandState = Schemas["blackjack.v1.HandState"];
export type BankHand = Schemas["blackjack.v1.BankHand"];
export type PlaceOffer = Schemas["blackjack.v1.PlaceOffer"];
export type BetResult = Schemas["blackjack.v1.BetResult"];
export type Option = Schemas["blackjack.v1.Option"];
export type Decision = Schemas["blackjack.v1.Decision"];
export type View = Schemas["blackjack.v1.View.Any"];
export type Outcome = Schemas["blackjack.v1.Outcome.Any"];
export type OwnView = Schemas["blackjack.v1.OwnView.Any"];

/** A decision that a player can make. */
export type Choice = Exclude<Decision, "DECISION_UNSPECIFIED">;

/** Blackjack's part of a table's specific rules. */
export type SpecificRules = Partial<Schemas["blackjack.v1.SpecificRules.Any"]>;

const MOVE = "type.googleapis.com/feltro.blackjack.v1.Move";

/** A decision as `TableService.Act` takes it, and as rounds record it. */
export interface Move extends Any {
  place: number;
  decision: Decision;
  insurance_cents: string;
}

export function moveMessage(place: number, decision: Choice, insurance_cents = 0): Move {
  return { "@type": MOVE, place, decision, insurance_cents: String(insurance_cents) };
}
