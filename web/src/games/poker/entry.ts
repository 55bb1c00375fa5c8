// What the frame knows of poker before it has been fetched.
import type { GameEntry } from "../../game_interface/game";
import { EMPTIED_ROUND, frameTexts } from "./words/frame_texts";
import { HAND_ICON } from "./words/icons";

export const poker: GameEntry = {
  texts: frameTexts,
  emptiedRound: EMPTIED_ROUND,
  startIcon: HAND_ICON,
  load: () => import("./game"),
};
