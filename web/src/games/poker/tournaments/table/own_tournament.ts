// The player's own place in the tournament of the table that is shown, as far as the hand on the screen allows.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { OwnTournament } from "../../messages/messages";
import type { Tournament } from "../details/tournament";
import { movedTo, type NewSeat, shownOwn } from "./own_seat";

export class TournamentAtTable {
  /** A hand of the player is on the screen, and its end has not been shown. */
  readonly inHand = signal(false);
  readonly own: ReadonlySignal<OwnTournament | null>;
  private kept: OwnTournament | null = null;

  constructor(
    readonly tournament: Tournament,
    private readonly tableId: string,
  ) {
    this.own = computed(() => {
      this.kept = shownOwn(tournament.own.value, this.kept, this.inHand.value);
      return this.kept;
    });
  }

  /** Keeps it up to date, and says where the player goes on when they are moved, until the returned function is called. */
  follow(moved: (to: NewSeat) => void): () => void {
    const ends = [
      this.tournament.follow(),
      effect(() => {
        const to = movedTo(this.own.value, this.tableId);
        if (to) moved(to);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}
