// Baccarat's part of the page, fetched when it is needed.
import type { Game } from "../../game_interface/game";
import { PastRound } from "./history/past_round";
import { Beads } from "./result/beads";
import { LobbyPicture } from "./result/lobby_picture";
import { BaccaratTable } from "./table/baccarat_table";
import { limitsText } from "./words/limits";
import { outcomeLabel } from "./words/outcomes";

export const game: Game = {
  Table: BaccaratTable,
  PastRound,
  LobbyPicture,
  LastOutcomes: Beads,
  limits: limitsText,
  outcome: outcomeLabel,
};
