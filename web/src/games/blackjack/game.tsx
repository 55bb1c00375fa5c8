// Blackjack's part of the page, fetched when it is needed.
import type { Game } from "../../game_interface/game";
import { PastRound } from "./history/past_round";
import { BankResults } from "./result/bank_results";
import { BlackjackTable } from "./table/blackjack_table";
import { LobbyPicture } from "./table/lobby_picture";
import { limitsText } from "./words/limits";
import { outcomeLabel } from "./words/outcomes";

export const game: Game = {
  Table: BlackjackTable,
  PastRound,
  LobbyPicture,
  LastOutcomes: BankResults,
  limits: limitsText,
  outcome: outcomeLabel,
};
