// What the frame knows of baccarat before it has been fetched.
import type { GameEntry } from "../../game_interface/game";
import { EMPTIED_ROUND, frameTexts } from "./words/frame_texts";
import { DEAL_ICON } from "./words/icons";

export const baccarat: GameEntry = {
  texts: frameTexts,
  emptiedRound: EMPTIED_ROUND,
  startIcon: DEAL_ICON,
  load: () => import("./game"),
};
