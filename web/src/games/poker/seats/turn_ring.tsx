// A ring around a plate that empties as the time to decide runs, with its seconds; the time bank has another colour.
import type { Turn } from "../../../api/messages";
import { useServerNow } from "../../../design/use_clock";
import { turnTime } from "../act/turn_time";
import { pokerWords } from "../words/table_words";
import "./turn_ring.css";

interface Props {
  turn: Turn;
  decision_ms: number;
  width: number;
  height: number;
}

const OUTSIDE = 4;
const LAST_S = 5;

export function PlateRing({ turn, decision_ms, width, height }: Props) {
  const now = useServerNow(100);
  const words = pokerWords();
  const time = turnTime(turn, decision_ms, now);
  if (!time) return null;
  const [w, h] = [width + 2 * OUTSIDE, height + 2 * OUTSIDE];
  const extra = time.stage === "extra" || time.stage === "over";
  const last = time.seconds <= LAST_S && time.stage === "usual";
  return (
    <div class={`plate-clock${extra ? " extra" : ""}${last ? " last" : ""}`} data-testid="turn-clock">
      <svg width={w} height={h} viewBox={`0 0 ${w} ${h}`} aria-hidden="true">
        <rect class="plate-ring-track" x="2" y="2" width={w - 4} height={h - 4} rx={(h - 4) / 2} />
        <rect
          class="plate-ring-left"
          x="2"
          y="2"
          width={w - 4}
          height={h - 4}
          rx={(h - 4) / 2}
          pathLength={100}
          stroke-dasharray="100"
          stroke-dashoffset={100 * (1 - time.share)}
        />
      </svg>
      <span
        class="plate-seconds figures"
        data-testid="turn-seconds"
        data-seconds={time.seconds}
        data-stage={time.stage}
        title={extra ? words.bankHint : undefined}
      >
        {time.stage === "paused" ? words.paused : extra ? words.bank(time.seconds) : words.clock(time.seconds)}
      </span>
    </div>
  );
}
