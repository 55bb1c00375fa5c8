// What the frame knows of roulette before it has been fetched.
import type { GameEntry } from "../../game_interface/game";
import { EMPTIED_ROUND, frameTexts } from "./words/frame_texts";
import { WHEEL_ICON } from "./words/icons";

export const roulette: GameEntry = {
  texts: frameTexts,
  emptiedRound: EMPTIED_ROUND,
  startIcon: WHEEL_ICON,
  load: () => import("./game"),
};
