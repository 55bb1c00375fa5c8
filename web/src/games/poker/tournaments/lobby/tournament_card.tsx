// A tournament in the list: kind, start, price, players, prizes and how it stands.
import { addressOf } from "../../../../browser/routes";
import { useServerNow } from "../../../../design/use_clock";
import { inLanguage } from "../../../../words/language";
import { amount, cents } from "../../../../words/money";
import { dateTime } from "../../../../words/times";
import type { TournamentSummary } from "../../messages/messages";
import { GAME } from "../../words/game_id";
import { countText } from "../words/counts";
import { kindsOf } from "../words/kinds";
import { priceParts, priceText } from "../words/prices";
import { stateText } from "../words/state_text";
import { tournamentWords } from "../words/words";

export function TournamentCard({ tournament, mine }: { tournament: TournamentSummary; mine: boolean }) {
  const words = tournamentWords();
  const { configuration, phase } = tournament;
  const waits = phase === "TOURNAMENT_PHASE_REGISTERING";
  const now = useServerNow(waits ? 1000 : 0);
  const rules = configuration?.rules;
  if (!configuration || !rules) return null;
  const { mode } = configuration;
  const name = inLanguage(configuration.name);
  const starts = tournament.started_at ?? rules.starts_at;
  return (
    <li class="tournament-card" data-testid="tournament" data-tournament={tournament.tournament_id} data-phase={phase}>
      <h3>{name}</h3>
      <p class="row tournament-tags">
        {kindsOf(rules).map((kind) => (
          <span key={kind} class="tag">
            {words.kinds[kind]}
          </span>
        ))}
        {mine && <span class="tag brass">{words.mine}</span>}
      </p>
      <p class="tournament-state figures">{stateText(tournament, now)}</p>
      <dl class="tournament-facts figures">
        <Fact name={words.facts.starts}>{starts ? dateTime(starts) : words.whenFull}</Fact>
        <Fact name={words.facts.price} title={priceParts(rules.price, mode)}>
          {priceText(rules.price, mode)}
        </Fact>
        <Fact name={words.facts.players}>{playersText(tournament)}</Fact>
        <Fact name={words.facts.prizes}>
          {tournament.prizes && rules.satellite && `${words.prizes.tickets(tournament.prizes.tickets)}, `}
          {amount(cents(tournament.prizes?.pool_cents), mode)}{" "}
          <span class="quiet">({tournament.prizes?.frozen ? words.frozen : words.provisional})</span>
        </Fact>
      </dl>
      <a
        class="button first"
        href={addressOf({ page: "game", game: GAME, place: tournament.tournament_id })}
        aria-label={words.openOf(name)}
        data-testid="open-tournament"
      >
        {words.open}
      </a>
    </li>
  );
}

function Fact({ name, title, children }: { name: string; title?: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>{children}</dd>
    </div>
  );
}

/** How many are registered, or still in. */
export function playersText({ phase, entries, players_left, configuration }: TournamentSummary): string {
  const words = tournamentWords();
  const most = configuration?.rules?.max_players ?? 0;
  switch (phase) {
    case "TOURNAMENT_PHASE_REGISTERING":
      return most
        ? words.registeredOf(countText(players_left), countText(most))
        : words.registered(countText(players_left));
    case "TOURNAMENT_PHASE_RUNNING":
      return words.left(countText(players_left), countText(entries));
    default:
      return words.entries(countText(entries));
  }
}
