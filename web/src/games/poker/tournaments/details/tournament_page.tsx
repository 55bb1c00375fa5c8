// The page of a tournament: how it stands, taking part in it, and its details.
import { useEffect, useState } from "preact/hooks";
import { call, identity, onOwnView, onResync, requestId } from "../../../../api/platform";
import { addressOf } from "../../../../browser/routes";
import { Empty } from "../../../../design/empty";
import { Icon } from "../../../../design/icon";
import { Tabs } from "../../../../design/tabs";
import { useServerNow } from "../../../../design/use_clock";
import { RulesSheet } from "../../../../rules/rules_sheet";
import { inLanguage } from "../../../../words/language";
import { amount, cents } from "../../../../words/money";
import { refusalText } from "../../../../words/refusals";
import { dateTime } from "../../../../words/times";
import type { TournamentSummary } from "../../messages/messages";
import { playersText } from "../lobby/tournament_card";
import { countText } from "../words/counts";
import { kindsOf } from "../words/kinds";
import { priceParts, priceText } from "../words/prices";
import { lengthText, stateText } from "../words/state_text";
import { tournamentWords } from "../words/words";
import { GlossaryList } from "./glossary_list";
import { OwnPart } from "./own_part";
import { PlayerTable } from "./player_table";
import { PrizeTable } from "./prize_table";
import { Structure } from "./structure";
import { Tournament } from "./tournament";
import "./tournament_page.css";

export function TournamentPage({ place }: { place: string }) {
  const words = tournamentWords();
  const [tournament] = useState(() => new Tournament(place, { call, requestId, onOwnView, onResync }));
  // Logging in opens another connection, which says what the player's own place is.
  const { kind } = identity.value;
  useEffect(() => tournament.follow(), [tournament, kind]);
  const summary = tournament.summary.value;
  const name = inLanguage(summary?.configuration?.name) || words.heading;
  useEffect(() => {
    document.title = `${name} · Feltro`;
  }, [name]);
  const failure = tournament.failure.value;
  const unknown = failure?.reason === "TOURNAMENT_UNKNOWN";
  if (failure && !summary) {
    return (
      <Empty
        icon="warning"
        page
        title={unknown ? words.unknown : words.failed}
        testId="no-tournament"
        actions={
          <>
            {!unknown && (
              <button type="button" class="button first" onClick={() => void tournament.read()}>
                {words.again}
              </button>
            )}
            <a class="button" href={addressOf({ page: "lobby" })}>
              {words.toTournaments}
            </a>
          </>
        }
      >
        <p>{refusalText(failure, "MODE_REAL")}</p>
      </Empty>
    );
  }
  if (!summary) return <p role="status">{words.loading}</p>;
  return <Shown tournament={tournament} summary={summary} name={name} />;
}

interface ShownProps {
  tournament: Tournament;
  summary: TournamentSummary;
  name: string;
}

function Shown({ tournament, summary, name }: ShownProps) {
  const words = tournamentWords();
  const over = summary.phase === "TOURNAMENT_PHASE_FINISHED" || summary.phase === "TOURNAMENT_PHASE_CANCELLED";
  const tabs = [
    { name: "structure", label: words.tabs.structure },
    { name: "prizes", label: words.tabs.prizes },
    { name: "players", label: over ? words.tabs.results : words.tabs.players },
    { name: "glossary", label: words.tabs.glossary },
  ] as const;
  const [shown, show] = useState<(typeof tabs)[number]["name"]>(over ? "players" : "structure");
  const now = useServerNow(over ? 0 : 1000);
  const [rules, setRules] = useState(false);
  return (
    <div class="tournament" data-testid="tournament-page" data-phase={summary.phase}>
      <a class="tournament-back" href={addressOf({ page: "lobby" })}>
        ‹ {words.toTournaments}
      </a>
      <h1 tabIndex={-1}>{name}</h1>
      <p class="row tournament-tags">
        {summary.configuration?.rules &&
          kindsOf(summary.configuration.rules).map((kind) => (
            <span key={kind} class="tag">
              {words.kinds[kind]}
            </span>
          ))}
      </p>
      <p class="tournament-state figures" data-testid="tournament-state">
        {stateText(summary, now)}
      </p>
      <button
        type="button"
        class="button tournament-rules"
        onClick={() => setRules(true)}
        data-testid="tournament-rules"
      >
        <Icon name="rules" />
        {words.rules}
      </button>
      {rules && <RulesSheet tableId={tournament.id} name={name} onClose={() => setRules(false)} />}
      {summary.cancelled_rule && (
        <p data-testid="cancelled">{words.cancelledWhy(summary.cancelled_reason, summary.cancelled_rule)}</p>
      )}
      <div class="tournament-parts">
        <OwnPart tournament={tournament} summary={summary} />
        <Facts summary={summary} />
      </div>
      <Tabs label={words.tabs.group} tabs={tabs} shown={shown} show={show}>
        {shown === "structure" ? (
          <Structure summary={summary} />
        ) : shown === "prizes" ? (
          <PrizeTable summary={summary} />
        ) : shown === "players" ? (
          <PlayerTable tournament={tournament} summary={summary} />
        ) : (
          <GlossaryList />
        )}
      </Tabs>
    </div>
  );
}

function Facts({ summary }: { summary: TournamentSummary }) {
  const words = tournamentWords().facts;
  const { configuration, prizes } = summary;
  const rules = configuration?.rules;
  if (!configuration || !rules) return null;
  const { mode } = configuration;
  const starts = summary.started_at ?? rules.starts_at;
  const running = summary.phase === "TOURNAMENT_PHASE_RUNNING";
  const parts = priceParts(rules.price, mode);
  const lines: [string, string][] = [
    [words.starts, starts ? dateTime(starts) : tournamentWords().whenFull],
    [words.price, parts ? `${priceText(rules.price, mode)} (${parts})` : priceText(rules.price, mode)],
    [words.players, playersText(summary)],
    [words.prizes, amount(cents(prizes?.pool_cents), mode)],
    [words.stack, countText(rules.starting_stack)],
    [words.seats, countText(rules.seats)],
    [words.decision, lengthText(rules.decision_time_seconds)],
    ...(running
      ? ([
          [words.tables, countText(summary.tables)],
          [words.average, countText(summary.average_chips)],
        ] satisfies [string, string][])
      : []),
  ];
  return (
    <dl class="tournament-facts figures" data-testid="tournament-facts">
      {lines.map(([term, text]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
