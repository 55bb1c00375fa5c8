// How a tournament stands, in a few words.
import { durationInWords } from "../../../../words/times";
import type { TournamentSummary } from "../../messages/messages";
import { tournamentWords } from "./words";

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** In the list: what it waits for, or how far it is. `now` is the platform's time. */
export function stateText(tournament: TournamentSummary, now: number): string {
  const words = tournamentWords().states;
  switch (tournament.phase) {
    case "TOURNAMENT_PHASE_RUNNING": {
      const what = tournament.last_lap
        ? words.lastLap
        : tournament.on_break
          ? words.onBreak
          : tournament.hand_for_hand
            ? words.handForHand
            : "";
      const late = tournament.open_to_entries ? words.late : "";
      return [words.running(tournament.level), what, late].filter(Boolean).join(" · ");
    }
    case "TOURNAMENT_PHASE_FINISHED":
      return words.finished;
    case "TOURNAMENT_PHASE_CANCELLED":
      return words.cancelled;
    default: {
      const open = tournament.open_to_entries ? words.registering : words.closed;
      return [open, waitsFor(tournament, now)].filter(Boolean).join(" · ");
    }
  }
}

/** What it waits for: the scheduled time, or players. */
function waitsFor({ configuration, entries }: TournamentSummary, now: number): string {
  const words = tournamentWords().states;
  const rules = configuration?.rules;
  if (rules?.start === "TOURNAMENT_START_ON_FULL") return words.missing(Math.max(0, rules.max_players - entries));
  const seconds = rules?.starts_at ? (Date.parse(rules.starts_at) - now) / 1000 : null;
  if (seconds === null || seconds > DAY_S) return "";
  return seconds > 0 ? words.startsIn(durationInWords(seconds)) : words.starting;
}

/** A length of a level or a break: `12 min`, `45 s`. */
export function lengthText(seconds: number): string {
  const words = tournamentWords();
  return seconds % 60 === 0 ? words.minutes(seconds / 60) : words.seconds(seconds);
}
