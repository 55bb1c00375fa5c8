// The tournament above its table: level and blinds, the clock, players left and their average, and the player's own place.
import { useServerNow } from "../../../../design/use_clock";
import { duration } from "../../../../words/times";
import type { TournamentNotice } from "../../messages/messages";
import { countText } from "../words/counts";
import { placeOf } from "../words/places";
import { blindsText, clockOf, saidOf } from "./notice_text";
import type { TournamentAtTable } from "./own_tournament";
import { playWords } from "./words";
import "./tournament_line.css";

export function TournamentLine({ at, notice }: { at: TournamentAtTable; notice: TournamentNotice }) {
  const words = playWords();
  const entry = at.own.value?.entry;
  const next = Number(notice.next_big_blind) > 0;
  return (
    <section class="tournament-line figures" aria-label={words.group} data-testid="tournament-line">
      <span data-testid="level" data-level={notice.level}>
        <strong>{words.level(notice.level)}</strong> {blindsText(notice.small_blind, notice.big_blind)}
        {next && (
          <span class="quiet tournament-next">
            {" "}
            · {words.next(blindsText(notice.next_small_blind, notice.next_big_blind))}
          </span>
        )}
      </span>
      <LevelClock notice={notice} />
      {notice.hand_for_hand && (
        <span class="tag brass" data-testid="hand-for-hand">
          {words.handForHand}
        </span>
      )}
      {notice.last_lap && (
        <span class="tag brass" data-testid="last-lap">
          {words.lastLap}
        </span>
      )}
      <span data-testid="players-left">
        {words.left(countText(notice.players_left))}
        <span class="quiet tournament-average">
          {" "}
          · {words.average(countText(notice.average_chips))} · {words.paid(notice.paid_places)}
        </span>
      </span>
      {entry && entry.rank > 0 && (
        <span data-testid="own-place">
          <span class="unseen">{words.yourPlace}: </span>
          {words.place(placeOf(entry))}
        </span>
      )}
      <span class="unseen" role="status" data-testid="tournament-said">
        {saidOf(notice)}
      </span>
    </section>
  );
}

function LevelClock({ notice }: { notice: TournamentNotice }) {
  const words = playWords();
  const runs = notice.break_until !== undefined || notice.level_ends_at !== undefined;
  const now = useServerNow(runs ? 500 : 0);
  const clock = clockOf(notice, now);
  if (!clock) return null;
  const onBreak = clock.kind === "break";
  return (
    <span
      class={onBreak ? "tournament-clock on-break" : "tournament-clock"}
      role="timer"
      data-testid="level-clock"
      data-kind={clock.kind}
    >
      <span class={onBreak ? "" : "unseen"}>{onBreak ? words.onBreak : words.levelEnds} </span>
      {duration(clock.seconds)}
    </span>
  );
}
