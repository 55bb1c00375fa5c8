// Poker's part of the page, fetched when it is needed.
import type { Game } from "../../game_interface/game";
import { LeaveNote } from "./cave/leave_note";
import { PastRound } from "./history/past_round";
import { LastHands } from "./result/last_hands";
import { LobbyPicture } from "./table/lobby_picture";
import { PokerTable } from "./table/poker_table";
import { TournamentPage } from "./tournaments/details/tournament_page";
import { TournamentSection } from "./tournaments/lobby/tournament_section";
import { announceTournaments } from "./tournaments/notices/announce_tournaments";
import { tournamentOf } from "./tournaments/words/table_name";
import { BeforeSitting } from "./waiting/period_note";
import { limitsText } from "./words/limits";
import { outcomeLabel } from "./words/outcomes";

export const game: Game = {
  Table: PokerTable,
  PastRound,
  LobbyPicture,
  LastOutcomes: LastHands,
  LeaveNote,
  WaitingList: BeforeSitting,
  begin: announceTournaments,
  LobbySection: TournamentSection,
  Page: TournamentPage,
  pageOfTable: tournamentOf,
  limits: limitsText,
  outcome: outcomeLabel,
};
