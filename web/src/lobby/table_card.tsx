// A table in the lobby: name, limits, players, state, and latest outcomes.
import type { TableSnapshot, TableSummary } from "../api/messages";
import { serverNow } from "../api/server_clock";
import { addressOf } from "../browser/routes";
import { Icon } from "../design/icon";
import { useServerNow } from "../design/use_clock";
import type { Game } from "../game_interface/game";
import { gameEntry, loadedGame } from "../game_interface/registered_games";
import { shownAt_ms, shownOutcomes } from "../table/live/dealing";
import { inLanguage, language } from "../words/language";
import { reasonText } from "../words/reasons";
import { lobbyWords } from "./words";
import "./table_card.css";

interface Props {
  table: TableSummary;
  live: TableSnapshot | undefined;
  /** The player has a session there. */
  sits: boolean;
  onRules: () => void;
}

export function TableCard({ table, live, sits, onRules }: Props) {
  const words = lobbyWords();
  const { configuration } = table;
  const game = loadedGame(configuration?.game);
  if (!configuration) return null;
  const name = inLanguage(configuration.name);
  const individual = configuration.play === "PLAY_INDIVIDUAL";
  const off = !table.enabled || live?.phase === "PHASE_DISABLED";
  const count = new Intl.NumberFormat(language.value);
  return (
    <article
      class={off ? "table-card table-card-off" : "table-card"}
      data-testid="table-card"
      data-table={table.table_id}
    >
      <div class="table-card-picture">{game && <game.LobbyPicture configuration={configuration} />}</div>
      <div class="table-card-what">
        <h3>{name}</h3>
        <p class="row table-card-tags">
          <span class={individual ? "tag" : "tag brass"}>
            <Icon name={individual ? "person" : "people"} />
            {individual ? words.individual : words.many}
          </span>
          {sits && <span class="tag brass">{words.seated}</span>}
        </p>
        <dl class="table-card-facts">
          <div>
            <dt>{words.limits}</dt>
            <dd class="figures">{game?.limits(configuration) ?? "\u00a0"}</dd>
          </div>
        </dl>
      </div>
      <div class="table-card-now">
        {off ? (
          <p class="table-card-live">
            <Icon name="warning" />
            <span>
              <strong>{words.off}</strong> {reasonText(live?.disabled_reason ?? "") || words.offHint}
            </span>
          </p>
        ) : individual ? (
          <p class="table-card-live">{gameEntry(configuration.game)?.texts().individualHint}</p>
        ) : (
          <>
            <p class="table-card-live table-card-state">
              {live ? <LivePhase live={live} /> : <strong>{"\u00a0"}</strong>}
              <span class="quiet figures">
                {live ? words.seats(count.format(live.seated), count.format(configuration.seats)) : "\u00a0"}
              </span>
            </p>
            <div class="table-card-past">{live && game && <PastOutcomes live={live} game={game} />}</div>
          </>
        )}
      </div>
      <div class="table-card-actions">
        <button
          type="button"
          class="button plain"
          onClick={onRules}
          aria-label={words.rulesOf(name)}
          data-testid="card-rules"
        >
          <Icon name="rules" />
          {words.rules}
        </button>
        {!off && (
          <a
            class="button first"
            href={addressOf({ page: "table", tableId: table.table_id })}
            aria-label={words.goTo(sits ? words.goOn : words.sit, name)}
            data-testid="sit"
          >
            {sits ? words.goOn : words.sit}
          </a>
        )}
      </div>
    </article>
  );
}

/** The latest outcomes, the newest only once its cards lie on the table. */
function PastOutcomes({ live, game }: { live: TableSnapshot; game: Game }) {
  const now = serverNow();
  useServerNow(shownAt_ms(live) > now ? 250 : 0);
  return <game.LastOutcomes past={shownOutcomes(live, now)} />;
}

function LivePhase({ live }: { live: TableSnapshot }) {
  const words = lobbyWords();
  const betting = live.phase === "PHASE_BETTING";
  const now = useServerNow(betting ? 500 : 0);
  const closes = live.round?.closes_at;
  if (betting) {
    const left = closes ? Math.max(0, Math.ceil((Date.parse(closes) - now) / 1000)) : null;
    return (
      <strong class="live-phase live-phase-bets figures">{left === null ? words.bets : words.betsFor(left)}</strong>
    );
  }
  if (live.phase === "PHASE_PLAYING") {
    return <strong class="live-phase live-phase-busy">{words.playing}</strong>;
  }
  const resting = live.phase === "PHASE_IDLE" || live.phase === "PHASE_UNSPECIFIED";
  if (resting) return <strong class="live-phase">{words.resting}</strong>;
  return (
    <strong class="live-phase live-phase-busy">
      {live.phase === "PHASE_RESULT_SHOWN" ? words.shown : words.closed}
    </strong>
  );
}
