// What leaving means for the hand under way and for the cave, said before the player leaves (806/2015:10).
import type { LiveTable } from "../../../table/live/live_table";
import { amount, cents } from "../../../words/money";
import type { SpecificRules } from "../messages/messages";
import { standingInHand } from "./cave_offers";
import { caveWords } from "./words";

// The default of a table, in minutes.
const RATHOLE_WINDOW_MIN = 60;

export function LeaveNote({ table }: { table: Pick<LiveTable, "snapshot" | "ownSeat" | "mode"> }) {
  const words = caveWords();
  const snapshot = table.snapshot.value;
  const seat = table.ownSeat.value?.seat;
  const cave = snapshot?.caves?.find((each) => each.seat === seat);
  const standing = standingInHand(snapshot, seat);
  const rules = (snapshot?.configuration?.rules ?? {}) as SpecificRules;
  const minutes = rules.rathole_window_min ?? RATHOLE_WINDOW_MIN;
  const has = cents(cave?.cave_cents);
  if (!has) return null;
  return (
    <>
      <p data-testid="leave-note" data-standing={standing}>
        {standing === "none" ? words.leave.none(amount(has, table.mode.value)) : words.leave[standing]}
      </p>
      {minutes > 0 && <p class="quiet">{words.leave.back(minutes)}</p>}
    </>
  );
}
