// Short names for the platform's messages. The types themselves are generated from its OpenAPI document.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Mode = Schemas["wallet.v1.Mode"];
export type Play = Schemas["wallet.v1.Play"];
export type Balance = Schemas["wallet.v1.Balance"];
export type Session = Schemas["wallet.v1.Session"];
export type SessionSummary = Schemas["wallet.v1.SessionSummary"];
export type SessionNotice = Schemas["wallet.v1.SessionNotice"];
export type SessionEnded = Schemas["wallet.v1.SessionEnded"];
export type PlayerFact = Schemas["wallet.v1.PlayerFact"];
export type Complaint = Schemas["wallet.v1.Complaint"];
export type ComplaintState = Schemas["wallet.v1.ComplaintState"];
export type Transaction = Schemas["wallet.v1.Transaction"];

export type LocalizedText = Schemas["table.v1.LocalizedText"];
export type Phase = Schemas["table.v1.Phase"];
export type TableConfiguration = Schemas["table.v1.TableConfiguration"];
export type TableSummary = Schemas["table.v1.TableSummary"];
export type TableSnapshot = Schemas["table.v1.TableSnapshot"];
export type TableEvent = Schemas["table.v1.TableEvent"];
export type ShoeOnTable = Schemas["table.v1.Shoe"];
export type RoundOnTable = Schemas["table.v1.RoundOnTable"];
export type TableSeat = Schemas["table.v1.TableSeat"];
export type SeatBets = Schemas["table.v1.SeatBets"];
export type SeatResult = Schemas["table.v1.SeatResult"];
export type OwnSeat = Schemas["table.v1.OwnSeat"];
export type OwnCave = Schemas["table.v1.OwnCave"];
export type CaveAtSeat = Schemas["table.v1.CaveAtSeat"];
export type OwnStake = Schemas["table.v1.OwnStake"];
export type PastOutcome = Schemas["table.v1.PastOutcome"];
export type ActedBy = Schemas["table.v1.ActedBy"];
export type TableRound = Schemas["table.v1.TableRound"];
export type PlayerRound = Schemas["table.v1.PlayerRound"];

export type Turn = Schemas["table.v1.Turn"];

/** What the player alone may see of a round and decide in it, told to that player alone. */
export type OwnViewChanged = Schemas["table.v1.OwnViewChanged"];

/** A message of one game: `@type` names it, its fields lie beside it. */
export interface Any {
  "@type"?: string;
}

/** Parameters and results of the methods that the frame calls, by their names on the WebSocket. Games add their own. */
export interface Methods {
  "GatewayService.EnterDemo": [Record<string, never>, Schemas["gateway.v1.EnterDemoResponse"]];
  "GatewayService.Logout": [Record<string, never>, Schemas["gateway.v1.LogoutResponse"]];

  "TableService.ListTables": [{ game: string; mode?: Mode } & Page, Schemas["table.v1.ListTablesResponse"]];
  "TableService.GetTable": [{ table_id: string }, Schemas["table.v1.GetTableResponse"]];
  "TableService.GetRules": [{ table_id: string; language: string }, Schemas["table.v1.GetRulesResponse"]];
  "TableService.EnterTable": [
    Command<Schemas["table.v1.EnterTableRequest.Request"]> & { table_id: string },
    Schemas["table.v1.EnterTableResponse"],
  ];
  "TableService.Act": [
    Command<Schemas["table.v1.ActRequest.Request"]> & { table_id: string; round_id: string },
    Schemas["table.v1.ActResponse"],
  ];
  "TableService.ListTableRounds": [{ table_id: string } & Page, Schemas["table.v1.ListTableRoundsResponse"]];
  "TableService.ListPlayerRounds": [
    { game: string; player_id: string; table_id?: string; open_only?: boolean } & Page,
    Schemas["table.v1.ListPlayerRoundsResponse"],
  ];

  "WalletService.FindAccount": [{ player_id: string; mode: Mode }, Schemas["wallet.v1.FindAccountResponse"]];
  "WalletService.GetBalance": [{ account_id: string }, Schemas["wallet.v1.GetBalanceResponse"]];
  "WalletService.ListTransactions": [
    {
      account_id?: string;
      session_id?: string;
      round_id?: string;
      kind?: Schemas["wallet.v1.TransferKind"];
      since?: string;
      until?: string;
    } & Page,
    Schemas["wallet.v1.ListTransactionsResponse"],
  ];

  "SessionService.GetSession": [{ session_id: string }, Schemas["wallet.v1.GetSessionResponse"]];
  "SessionService.EndSession": [{ session_id: string }, Schemas["wallet.v1.EndSessionResponse"]];
  "SessionService.ListSessions": [
    { player_id: string; running_only?: boolean } & Page,
    Schemas["wallet.v1.ListSessionsResponse"],
  ];

  "ComplaintService.FileComplaint": [
    Command<Schemas["wallet.v1.FileComplaintRequest.Request"]>,
    Schemas["wallet.v1.FileComplaintResponse"],
  ];
  "ComplaintService.GetComplaint": [{ reference: string }, Schemas["wallet.v1.GetComplaintResponse"]];
  "ComplaintService.ListComplaints": [{ account_id: string } & Page, Schemas["wallet.v1.ListComplaintsResponse"]];
  "ComplaintService.AddToComplaint": [
    { reference: string; request_id: string; text: string },
    Schemas["wallet.v1.AddToComplaintResponse"],
  ];
}

/** A command acts once per `request_id`, however often it is sent. */
export type Command<Fields> = NonNullable<Fields> & { request_id: string };

interface Page {
  page_size?: number;
  page_token?: string;
}

export type MethodName = keyof Methods;
export type Params<M extends MethodName> = Methods[M][0];
export type Result<M extends MethodName> = Methods[M][1];
