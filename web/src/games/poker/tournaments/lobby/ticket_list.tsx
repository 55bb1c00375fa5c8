// The entries that the player has won, each with the way to its tournament (810/2015:28).
import type { Mode } from "../../../../api/messages";
import { addressOf } from "../../../../browser/routes";
import { inLanguage } from "../../../../words/language";
import { amount, cents } from "../../../../words/money";
import type { Ticket, TournamentSummary } from "../../messages/messages";
import { GAME } from "../../words/game_id";
import { tournamentWords } from "../words/words";

interface Props {
  tickets: readonly Ticket[];
  tournaments: readonly TournamentSummary[];
  mode: Mode;
}

export function TicketList({ tickets, tournaments, mode }: Props) {
  const words = tournamentWords().tickets;
  if (tickets.length === 0) return null;
  return (
    <section class="tournament-tickets" aria-labelledby="won-entries" data-testid="tickets">
      <h3 id="won-entries">{words.heading}</h3>
      <ul>
        {tickets.map((ticket) => {
          const target = tournaments.find(({ tournament_id }) => tournament_id === ticket.tournament_id);
          return (
            <li key={ticket.ticket_id} data-testid="ticket">
              <span class="figures">{words.worth(amount(cents(ticket.value_cents), mode))}</span>{" "}
              {ticket.from_freeroll && <span class="quiet">({words.freeroll})</span>}{" "}
              <a href={addressOf({ page: "game", game: GAME, place: ticket.tournament_id })}>
                {inLanguage(target?.configuration?.name) || words.unlisted}
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
