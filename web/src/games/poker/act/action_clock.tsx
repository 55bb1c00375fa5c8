// The time of the player's turn, large: the usual time, then the time bank in another colour and with its name.
import { useServerNow } from "../../../design/use_clock";
import type { LiveTable } from "../../../table/live/live_table";
import { type TurnTime, turnTime } from "./turn_time";
import { actWords } from "./words";
import "./action_clock.css";

const LAST_S = 5;
const RADIUS = 26;
const AROUND = 2 * Math.PI * RADIUS;

export function ActionClock({ table }: { table: Pick<LiveTable, "turn" | "snapshot"> }) {
  const now = useServerNow(100);
  const time = turnTime(table.turn.value, table.snapshot.value?.configuration?.decision_ms ?? 0, now);
  if (!time) return null;
  const words = actWords();
  const { stage, seconds, share, extra_seconds } = time;
  const last = seconds <= LAST_S && stage !== "paused" && !extra_seconds;
  return (
    <div
      class={`action-clock action-clock-${stage}${last ? " last" : ""}`}
      data-testid="action-clock"
      data-stage={stage}
      data-seconds={seconds}
    >
      <div class="action-clock-face" role="img" aria-label={spoken(time)}>
        <svg viewBox="-32 -32 64 64" aria-hidden="true">
          <circle class="action-clock-track" r={RADIUS} />
          <circle
            class="action-clock-left"
            r={RADIUS}
            stroke-dasharray={AROUND}
            stroke-dashoffset={AROUND * (1 - share)}
          />
        </svg>
        <span class={seconds > 99 ? "figures action-clock-hundreds" : "figures"}>{seconds}</span>
      </div>
      <span class="action-clock-bank" aria-hidden="true">
        {stage === "extra" ? words.timeBank : extra_seconds > 0 ? words.timeBankWaits(extra_seconds) : ""}
      </span>
      {/* Announced when it begins, and not every second. */}
      <span class="unseen" role="status">
        {stage === "extra" ? words.timeBank : stage === "paused" ? words.paused : ""}
      </span>
    </div>
  );
}

function spoken({ stage, seconds }: TurnTime): string {
  const words = actWords();
  if (stage === "paused") return words.paused;
  if (stage === "over") return words.over;
  return stage === "extra" ? words.timeBankLeft(seconds) : words.clock(seconds);
}
