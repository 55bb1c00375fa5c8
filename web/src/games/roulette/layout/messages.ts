// Short names for roulette's messages, and its methods on the WebSocket.
import type { Command, Result } from "../../../api/messages";
import type { components } from "../../../api/schema";

type Schemas = components["schemas"];

declare module "../../../api/messages" {
  interface Methods {
    "RouletteService.GetLayout": [{ table_id: string }, Schemas["roulette.v1.GetLayoutResponse"]];
    "RouletteService.PlaceBets": [
      Command<Schemas["roulette.v1.PlaceBetsRequest.Request"]> & { table_id: string },
      Schemas["roulette.v1.PlaceBetsResponse"],
    ];
    "RouletteService.RepeatBets": [
      Command<Schemas["roulette.v1.RepeatBetsRequest.Request"]> & { table_id: string },
      Schemas["roulette.v1.RepeatBetsResponse"],
    ];
    "RouletteService.CancelBets": [
      Command<Schemas["roulette.v1.CancelBetsRequest.Request"]> & { table_id: string },
      Schemas["roulette.v1.CancelBetsResponse"],
    ];
    "RouletteService.Spin": [
      Schemas["roulette.v1.SpinRequest.Request"] & { table_id: string },
      Schemas["roulette.v1.SpinResponse"],
    ];
  }
}

export type Layout = Result<"RouletteService.GetLayout">;
export type Place = Layout["places"][number];
export type Kind = Place["kind"];
export type CallBet = Layout["call_bets"][number];
export type WheelName = Schemas["roulette.v1.Wheel"];
export type Colour = Schemas["roulette.v1.Colour"];
export type Pocket = Schemas["roulette.v1.PocketOnWheel"];
export type Outcome = Schemas["roulette.v1.Outcome"];
export type Bets = Schemas["roulette.v1.Bets"];
export type BetResults = Schemas["roulette.v1.BetResults"];

/** Roulette's part of a table's specific rules. */
export type SpecificRules = Partial<Schemas["roulette.v1.SpecificRules.Any"]>;
