// Leads from a satellite to the tournament that its tickets are for (810/2015:32).
import { addressOf } from "../../../../browser/routes";
import type { TournamentSummary } from "../../messages/messages";
import { GAME } from "../../words/game_id";
import { tournamentWords } from "../words/words";

export function TargetLink({ summary }: { summary: TournamentSummary }) {
  const target = summary.configuration?.rules?.satellite?.tournament_id;
  if (!target) return null;
  return (
    <a href={addressOf({ page: "game", game: GAME, place: target })} data-testid="satellite-target">
      {tournamentWords().prizes.target}
    </a>
  );
}
