// Roulette's part of the page, fetched when it is needed.
import "./layout/colours.css";
import type { Game } from "../../game_interface/game";
import { PastRound } from "./history/past_round";
import { LastNumbers } from "./result/last_numbers";
import { RouletteTable } from "./table/roulette_table";
import { LobbyPicture } from "./wheel/lobby_picture";
import { limitsText } from "./words/limits";
import { outcomeLabel } from "./words/outcomes";

export const game: Game = {
  Table: RouletteTable,
  PastRound,
  LobbyPicture,
  LastOutcomes: LastNumbers,
  limits: limitsText,
  outcome: outcomeLabel,
};
