// How long the player has to fill a cave that is below the minimum bet, before their session ends (806/2015:71).
import { useServerNow } from "../../../design/use_clock";
import type { PlayerCave } from "./own_cave";
import { caveWords } from "./words";

export function FillCountdown({ cave }: { cave: Pick<PlayerCave, "own"> }) {
  const fillBy = cave.own.value?.fill_by;
  const now = useServerNow(fillBy ? 250 : 0);
  if (!fillBy) return null;
  const seconds = secondsUntil(fillBy, now);
  return (
    <p class="cave-fill-by" role="timer" data-testid="fill-by" data-seconds={seconds}>
      {caveWords().fillWithin(seconds)}
    </p>
  );
}

export function secondsUntil(at: string, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(at) - now) / 1000));
}
