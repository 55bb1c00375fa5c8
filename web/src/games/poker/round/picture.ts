// What lies on the table at one moment: seats with their caves and bets, the common cards, the pots, the markers.
import type { CaveAtSeat } from "../../../api/messages";
import type { Cents } from "../../../words/money";
import type { Action, Combination, Street } from "../messages/messages";

export type Standing = CaveAtSeat["standing"];

/** What a player did last in the betting round under way, or that they posted a blind. */
export type Said = Action | "SMALL_BLIND" | "BIG_BLIND";

/** One seat of the table. */
export interface SeatPicture {
  seat: number;
  taken: boolean;
  /** What is in the cave and not bet. */
  cave_cents: Cents;
  standing: Standing;
  disconnected: boolean;
  /** Was dealt into the hand that is played. */
  dealt: boolean;
  folded: boolean;
  all_in: boolean;
  /** What the player has bet in this betting round. */
  bet_cents: Cents;
  /** What the player may be seen to hold: names of cards that are turned up, or the player's own; empty for backs. */
  cards: readonly string[];
  /** Of cards that are turned up: the combination and its five cards. */
  combination: Combination;
  best: readonly string[];
  said: Said | null;
}

/** A pot with the seats that can win it; the main pot comes first. */
export interface PotPicture {
  cents: Cents;
  seats: readonly number[];
}

/** The bounds of the player in turn, which everybody sees. */
export interface Bounds {
  seat: number;
  to_call_cents: Cents;
  /** What the bet may become by a raise; both are 0 if no raise is possible. */
  min_to_cents: Cents;
  max_to_cents: Cents;
}

/** A pot, or part of one, that goes to a seat. */
export interface Prize {
  pot: number;
  seat: number;
  /** Less commission. */
  net_cents: Cents;
}

export interface TablePicture {
  /** Every seat of the table, by its number. */
  seats: readonly SeatPicture[];
  street: Street;
  board: readonly string[];
  /** The seats with the markers; 0 if there is none. */
  button: number;
  small_blind: number;
  big_blind: number;
  pots: readonly PotPicture[];
  /** Everything that was bet, the bets of this betting round included. */
  total_cents: Cents;
  /** Whose turn it is; null if nobody decides. */
  bounds: Bounds | null;
  /** What was paid out of the pots, once the hand is over. */
  prizes: readonly Prize[];
  commission_cents: Cents;
}
