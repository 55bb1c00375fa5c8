// What a player may do about their cave and their presence, by the platform's word.
import type { CaveAtSeat, OwnCave, TableSnapshot } from "../../../api/messages";
import { cents } from "../../../words/money";
import type { Range } from "../amounts/typed_amount";
import type { SpecificRules, View } from "../messages/messages";

export interface CaveOffers {
  /** What may be bought in; null if nothing. */
  buyIn: Range | null;
  /** The cave inicial, a reposição of a cave that is lost or too small, or more for one that is in play (806/2015:8, 12). */
  kind: "initial" | "refill" | "top_up";
  sitOut: boolean;
  comeBack: boolean;
  rest: boolean;
  /** A big blind of their own free will, to be dealt in before it is due. */
  post: boolean;
}

const IN_PLAY: ReadonlySet<CaveAtSeat["standing"]> = new Set(["CAVE_STANDING_PLAYING", "CAVE_STANDING_WAITING"]);
const OUT: ReadonlySet<CaveAtSeat["standing"]> = new Set(["CAVE_STANDING_AWAY", "CAVE_STANDING_RESTING"]);

export function caveOffers(own: OwnCave | null, at: CaveAtSeat | undefined, rules: SpecificRules): CaveOffers {
  const standing = at?.standing ?? "CAVE_STANDING_UNSPECIFIED";
  const has = cents(own?.cave_cents) + cents(own?.waiting_cents);
  const filled = has >= Math.max(1, cents(rules.big_blind_cents));
  const postable = rules.entry_mode === "ENTRY_MODE_WAIT_OR_VOLUNTARY_POST";
  return {
    buyIn: standing === "CAVE_STANDING_LEAVING" ? null : buyInRange(own),
    kind: filled ? "top_up" : own?.fill_by ? "refill" : "initial",
    sitOut: filled && IN_PLAY.has(standing),
    comeBack: filled && OUT.has(standing),
    rest: filled && IN_PLAY.has(standing) && (own?.rests_left ?? 0) > 0,
    post: filled && postable && (standing === "CAVE_STANDING_WAITING" || OUT.has(standing)),
  };
}

function buyInRange(own: OwnCave | null): Range | null {
  const [minimum_cents, maximum_cents] = [cents(own?.buy_in_min_cents), cents(own?.buy_in_max_cents)];
  return maximum_cents > 0 && minimum_cents <= maximum_cents ? { minimum_cents, maximum_cents } : null;
}

/** Whether a hand is under way: what is bought in now is in play from the next one on (806/2015:11.b). */
export function isHandUnderWay(table: TableSnapshot | null): boolean {
  return table?.phase === "PHASE_PLAYING";
}

/** How the player stands in the hand under way, which leaving the table ends for them (806/2015:10). */
export function standingInHand(table: TableSnapshot | null, seat: number | undefined): "none" | "in" | "all_in" {
  if (!isHandUnderWay(table)) return "none";
  const own = (table?.round?.view as View | undefined)?.seats.find((each) => each.seat === seat);
  if (!own || own.folded) return "none";
  return own.all_in ? "all_in" : "in";
}
