// What a table's notice of its tournament says: the clock that runs, and what is announced when it changes.
import type { TableSnapshot } from "../../../../api/messages";
import type { TournamentNotice } from "../../messages/messages";
import { countText } from "../words/counts";
import { playWords } from "./words";

export interface LevelClock {
  kind: "level" | "break";
  seconds: number;
}

/** What everybody at the table is told of the tournament; null at any other table. */
export function noticeOf(table: TableSnapshot | null): TournamentNotice | null {
  return (table?.chips?.notice as TournamentNotice | undefined) ?? null;
}

/** The clock of the level or of the break; null where none runs. `now` is the platform's time. */
export function clockOf(notice: TournamentNotice, now: number): LevelClock | null {
  const ends = notice.break_until ?? notice.level_ends_at;
  if (!ends) return null;
  const seconds = Math.max(0, Math.ceil((Date.parse(ends) - now) / 1000));
  return { kind: notice.break_until ? "break" : "level", seconds };
}

/** `25 / 50`. */
export function blindsText(small: string, big: string): string {
  return `${countText(small)} / ${countText(big)}`;
}

/** Announced when it changes, and not every second. */
export function saidOf(notice: TournamentNotice): string {
  const words = playWords();
  return [
    words.saidLevel(notice.level, blindsText(notice.small_blind, notice.big_blind)),
    notice.break_until && words.saidBreak,
    notice.hand_for_hand && words.saidHandForHand,
    notice.last_lap && words.saidLastLap,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Why the table begins no hand; empty while hands are played. */
export function heldText(table: TableSnapshot | null): string {
  const held = table?.chips?.held ?? "";
  return held ? (playWords().held[held] ?? playWords().waits) : "";
}
