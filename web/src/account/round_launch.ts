// On whose word the ball was launched, told where the platform decided for an absent player (GLI-19 4.16).
import type { PlayerRound } from "../api/messages";
import { roundsWords } from "./rounds_words";

/** Null where the player launched it himself, or the table's clock for everybody. */
export function platformLaunchInWords(round: PlayerRound): string | null {
  const words = roundsWords();
  switch (round.round?.launch) {
    case "LAUNCH_BY_PLATFORM_SESSION_ENDED":
      return words.launchedSessionEnded;
    case "LAUNCH_BY_PLATFORM_TABLE_HANDED_OVER":
      return words.launchedTableHandedOver;
    default:
      return null;
  }
}
