// The games that this front-end can show, and nothing else about them: each is a part of its own, fetched beside the page.
// A new game is a folder below `games/` and a line here; lobby, account and the frame of a table know none.
import type { ComponentType } from "preact";
import type { PastOutcome, PlayerRound, TableConfiguration } from "./api/messages";
import type { LiveTable } from "./table/live_table";

/** What the lobby, the account and the frame of a table ask of a game. */
export interface Game {
  /** The whole of a table within its frame: what is played on, and with what. */
  Table: ComponentType<{ table: LiveTable }>;
  /** A round told again, in pictures and words. */
  RoundTold: ComponentType<{ round: PlayerRound; configuration?: TableConfiguration }>;
  /** A small picture for the lobby. */
  Picture: ComponentType<{ configuration: TableConfiguration }>;
  /** The latest outcomes of a table, newest first, as its display shows them. */
  LastOutcomes: ComponentType<{ past: readonly PastOutcome[] }>;
  /** A short line on the limits: `1 € – 540 €`. */
  limits(configuration: TableConfiguration): string;
  /** An outcome in one word, for lists: `17 preto`. */
  outcome(outcome: { "@type"?: string }): string;
}

export const GAMES: Readonly<Record<string, () => Promise<{ game: Game }>>> = {
  roulette: () => import("./games/roulette/game"),
};
