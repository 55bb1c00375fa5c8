// The prizes of a tournament, and whether they are final (810/2015:34).
import type { Mode } from "../../../../api/messages";
import { amount, type Cents, cents } from "../../../../words/money";
import type { TournamentSummary } from "../../messages/messages";
import { placeText } from "../words/places";
import { tournamentWords } from "../words/words";
import { TargetLink } from "./target_link";

export function PrizeTable({ summary }: { summary: TournamentSummary }) {
  const words = tournamentWords();
  const { prizes, configuration } = summary;
  const mode = configuration?.mode ?? "MODE_REAL";
  const overlay = cents(prizes?.overlay_cents);
  const ticketCents = cents(configuration?.rules?.satellite?.value_cents);
  if (!prizes || prizes.places_cents.length === 0) return <p>{words.noPrizes}</p>;
  return (
    <div class="tournament-prizes" data-testid="prizes" data-frozen={prizes.frozen}>
      <p>{prizes.frozen ? words.frozenHint : words.provisionalHint}</p>
      {overlay > 0 && <p>{words.overlay(amount(overlay, mode))}</p>}
      {ticketCents > 0 && (
        <p>
          {words.prizes.ticketsOf(prizes.tickets, amount(ticketCents, mode))} <TargetLink summary={summary} />
        </p>
      )}
      <table class="tournament-table figures">
        <caption>{words.prizes.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{words.prizes.place}</th>
            <th scope="col">{words.prizes.prize}</th>
          </tr>
        </thead>
        <tbody>
          {prizes.places_cents.map((prize, at) => (
            <tr key={at}>
              <th scope="row">{placeText(at + 1)}</th>
              <td>{prizeText(at < prizes.tickets, cents(prize), mode)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{words.prizes.pool}</th>
            <td>{amount(cents(prizes.pool_cents), mode)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

/** An entry to another tournament, money, or both. */
function prizeText(ticket: boolean, money: Cents, mode: Mode): string {
  const words = tournamentWords().prizes;
  if (!ticket) return amount(money, mode);
  return money > 0 ? `${words.ticket} + ${amount(money, mode)}` : words.ticket;
}
