// Why the platform started a round in place of an absent player (GLI-19 4.16).
import type { PlayerRound } from "../api/messages";
import type { GameTexts } from "../game_interface/game";

/** Null where the player started it, or the table's clock. */
export function drawTriggerText(round: PlayerRound, texts: GameTexts | undefined): string | null {
  switch (round.round?.draw_trigger) {
    case "DRAW_TRIGGER_SESSION_ENDED":
      return texts?.startedAfterSession ?? null;
    case "DRAW_TRIGGER_TABLE_HANDED_OVER":
      return texts?.startedAtHandover ?? null;
    default:
      return null;
  }
}
