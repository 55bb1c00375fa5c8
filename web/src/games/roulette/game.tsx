// Roulette, as the front-end knows it (see `src/games.ts`).
import type { Game } from "../../games";
import { LastNumbers } from "./last_numbers";
import { LobbyPicture } from "./lobby_picture";
import { limits, outcome } from "./outcome_words";
import { RouletteTable } from "./roulette_table";
import { RoundTold } from "./round_told";

export const game: Game = {
  Table: RouletteTable,
  RoundTold,
  Picture: LobbyPicture,
  LastOutcomes: LastNumbers,
  limits,
  outcome,
};
