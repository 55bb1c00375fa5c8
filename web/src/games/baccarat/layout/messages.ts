// Baccarat's messages, and its methods among those of the API. The types are generated from the platform's OpenAPI document.
import type { Command } from "../../../api/messages";
import type { components } from "../../../api/schema";

type Schemas = components["schemas"];

export type Layout = Schemas["baccarat.v1.GetLayoutResponse"];
export type ChanceOnTable = Schemas["baccarat.v1.ChanceOnTable"];
export type SpecificRules = Schemas["baccarat.v1.SpecificRules"];
export type Outcome = Schemas["baccarat.v1.Outcome"];
export type Winner = Schemas["baccarat.v1.Winner"];
export type BetResults = Schemas["baccarat.v1.BetResults"];
export type Bets = Schemas["baccarat.v1.Bets"];
export type Roads = Schemas["baccarat.v1.GetRoadsResponse"];
export type RoadCell = Schemas["baccarat.v1.RoadCell"];
export type BigRoadMark = Schemas["baccarat.v1.BigRoadMark"];

interface InRound {
  table_id: string;
  round_id: string;
}

declare module "../../../api/messages" {
  interface Methods {
    "BaccaratService.GetLayout": [{ table_id: string }, Layout];
    "BaccaratService.GetRoads": [{ table_id: string }, Roads];
    "BaccaratService.PlaceBets": [
      InRound & Command<Schemas["baccarat.v1.PlaceBetsRequest.Request"]>,
      Schemas["baccarat.v1.PlaceBetsResponse"],
    ];
    "BaccaratService.RepeatBets": [
      InRound & Command<Schemas["baccarat.v1.RepeatBetsRequest.Request"]>,
      Schemas["baccarat.v1.RepeatBetsResponse"],
    ];
    "BaccaratService.CancelBets": [
      InRound & Command<Schemas["baccarat.v1.CancelBetsRequest.Request"]>,
      Schemas["baccarat.v1.CancelBetsResponse"],
    ];
    "BaccaratService.Deal": [InRound, Schemas["baccarat.v1.DealResponse"]];
  }
}
