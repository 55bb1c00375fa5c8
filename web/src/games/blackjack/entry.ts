// What the frame knows of blackjack before it has been fetched.
import type { GameEntry } from "../../game_interface/game";
import { EMPTIED_ROUND, frameTexts } from "./words/frame_texts";
import { CARDS_ICON } from "./words/icons";

export const blackjack: GameEntry = {
  texts: frameTexts,
  emptiedRound: EMPTIED_ROUND,
  startIcon: CARDS_ICON,
  load: () => import("./game"),
};
