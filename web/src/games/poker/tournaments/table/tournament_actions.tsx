// What a player can do besides deciding: sit out and come back, rebuy, decline it, and buy an add-on.
import { addressOf } from "../../../../browser/routes";
import { useServerNow } from "../../../../design/use_clock";
import type { LiveTable } from "../../../../table/live/live_table";
import { amount } from "../../../../words/money";
import { GAME } from "../../words/game_id";
import { ownText } from "../details/own_text";
import type { Tournament } from "../details/tournament";
import { priceText } from "../words/prices";
import type { TournamentAtTable } from "./own_tournament";
import { playWords } from "./words";
import "./tournament_actions.css";

interface Props {
  table: LiveTable;
  at: TournamentAtTable;
  /** What lies in front of the player in the hand that is shown; undefined between hands. */
  inHand: number | undefined;
}

export function TournamentActions({ table, at, inHand }: Props) {
  const words = playWords();
  const { tournament } = at;
  const own = at.own.value;
  const entry = own?.entry;
  const seat = table.snapshot.value?.chips?.seats.find((each) => each.seat === table.ownSeat.value?.seat);
  const asked = entry?.standing === "ENTRY_STANDING_ASKED_TO_REBUY";
  const out = entry?.standing === "ENTRY_STANDING_OUT" || entry?.rank_final === true;
  const away = seat?.away ?? entry?.away ?? false;
  const { mode } = tournament;
  const chips = inHand ?? Number(seat?.chips ?? entry?.chips ?? 0);
  return (
    <section class="cave-bar tournament-actions" aria-label={words.actions} data-testid="tournament-actions">
      {out ? (
        <p class="tournament-out" role="status" data-testid="tournament-out">
          {ownText(entry)}
        </p>
      ) : asked ? (
        <Asked decide_by={own?.decide_by} />
      ) : (
        <p class="cave-bar-sum">
          <span class="quiet">{words.chips}</span>{" "}
          <strong class="figures" data-testid="own-chips" data-chips={chips}>
            {amount(chips, "CHIPS")}
          </strong>
        </p>
      )}
      {!out && (
        <p class="cave-bar-standing quiet" role="status" data-testid="own-away">
          {away ? words.away : ""}
        </p>
      )}
      <div class="cave-bar-actions">
        {own?.rebuy && !out && (
          <Action name="rebuy" first={asked} tournament={tournament} onChoose={() => tournament.rebuy()}>
            {words.rebuy(priceText(own.rebuy, mode))}
          </Action>
        )}
        {asked && (
          <Action name="decline-rebuy" tournament={tournament} onChoose={() => tournament.declineRebuy()}>
            {words.decline}
          </Action>
        )}
        {own?.addon && !out && (
          <Action name="add-on" tournament={tournament} onChoose={() => tournament.addOn()}>
            {words.addon(priceText(own.addon, mode))}
          </Action>
        )}
        {seat && !out && away && (
          <Action name="come-back" first tournament={tournament} onChoose={() => tournament.setAway(false)}>
            {words.comeBack}
          </Action>
        )}
        {seat && !out && !away && !asked && (
          <Action
            name="sit-out"
            tournament={tournament}
            onChoose={() => tournament.setAway(true)}
            hint={words.sitOutHint}
          >
            {words.sitOut}
          </Action>
        )}
        {out && (
          <a class="button first" href={addressOf({ page: "game", game: GAME, place: tournament.id })}>
            {words.toTournament}
          </a>
        )}
      </div>
      <p class="cave-bar-refused" role="alert" data-testid="tournament-refused">
        {tournament.refused.value || (tournament.givenBack.value ? words.givenBack : "")}
      </p>
    </section>
  );
}

/** How long the player may still decide about a rebuy (810/2015:31). */
function Asked({ decide_by }: { decide_by: string | undefined }) {
  const now = useServerNow(250);
  const seconds = decide_by ? Math.max(0, Math.ceil((Date.parse(decide_by) - now) / 1000)) : 0;
  return (
    <p class="cave-fill-by" role="timer" data-testid="rebuy-clock" data-seconds={seconds}>
      {playWords().asked(seconds)}
    </p>
  );
}

interface ActionProps {
  name: string;
  tournament: Tournament;
  first?: boolean;
  hint?: string;
  onChoose: () => unknown;
  children: string;
}

function Action({ name, tournament, first, hint, onChoose, children }: ActionProps) {
  const busy = tournament.busy.value;
  return (
    <button
      type="button"
      class={first ? "button first" : "button"}
      aria-disabled={busy}
      title={hint}
      onClick={() => !busy && onChoose()}
      data-testid={name}
    >
      {children}
    </button>
  );
}
