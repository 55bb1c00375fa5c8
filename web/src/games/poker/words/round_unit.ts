// What the amounts of a hand that was played are of.
import type { PlayerRound } from "../../../api/messages";
import type { Unit } from "../../../words/money";

/** The regulation of tournaments, where chips are played for. */
const TOURNAMENTS = "810/2015";

export function unitOf({ regulation, mode }: Pick<PlayerRound, "regulation" | "mode">): Unit {
  return regulation === TOURNAMENTS ? "CHIPS" : mode;
}
