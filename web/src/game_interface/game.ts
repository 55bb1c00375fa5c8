// What a game brings to the frame: a few words and a pictogram at once, everything else when it has been fetched.
import type { ComponentType } from "preact";
import type { LocalizedText, Mode, PastOutcome, PlayerRound, TableConfiguration } from "../api/messages";
import type { LiveTable } from "../table/live/live_table";

/** A game as the frame knows it from the first moment on. */
export interface GameEntry {
  texts: () => GameTexts;
  /** Why a round is void in which every bet was taken back. */
  emptiedRound: LocalizedText;
  /** The pictogram of starting a round: a path on the grid of `design/icon`. */
  startIcon: string;
  /** Fetches the game's own part of the page. */
  load: () => Promise<{ game: Game }>;
}

/** What the frame says of a game, in the player's language. */
export interface GameTexts {
  name: string;
  /** What is played, in a sentence: the lobby's welcome. */
  introduction: string;
  /** Below the button that leads to an individual demonstration table. */
  individualStart: string;
  /** On the card of an individual table: who starts a round there. */
  individualHint: string;
  /** How outcomes are decided: at the foot of the page. */
  fairness: string;
  /** Why the platform started a round in the player's place. */
  startedAfterSession: string;
  startedAtHandover: string;
}

/** The parts of the page that only the game can draw, and what only it can put into words. */
export interface Game {
  /** The table within its frame: what is played on, and with what. */
  Table: ComponentType<{ table: LiveTable }>;
  /** A past round in pictures and words. */
  PastRound: ComponentType<{ round: PlayerRound; configuration?: TableConfiguration }>;
  /** A small picture for the lobby. */
  LobbyPicture: ComponentType<{ configuration: TableConfiguration }>;
  /** A table's latest outcomes, newest first. */
  LastOutcomes: ComponentType<{ past: readonly PastOutcome[] }>;
  /** What leaving the table means for the round under way, where that is not what it means for bets. */
  LeaveNote?: ComponentType<{ table: LiveTable }>;
  /** How a player waits for a seat, where a full table has a waiting list: shown where seats are chosen. */
  WaitingList?: ComponentType<{ table: LiveTable }>;
  /** Called once the game has been fetched: it may follow what players are told on any page. */
  begin?(): void;
  /** What the game offers besides tables: a section of the lobby, with its own heading; nothing while there is none. */
  LobbySection?: ComponentType<{ mode: Mode }>;
  /** A page of the game's own, at `#/game/<game>/<place>`, with its heading. */
  Page?: ComponentType<{ place: string }>;
  /** The page, among the game's own, of what a table belongs to at which nobody chooses to sit. */
  pageOfTable?(tableId: string): string;
  /** The table's limits in short: `1 € – 540 €`. */
  limits(configuration: TableConfiguration): string;
  /** An outcome in a word or two, for lists. */
  outcome(outcome: { "@type"?: string }): string;
}
