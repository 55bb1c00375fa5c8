// The player's balance, sessions and unfinished rounds, above the tables.
import { BalanceView } from "../account/balance";
import type { Session, SessionSummary } from "../api/messages";
import { goToCashier, identity, operator } from "../api/platform";
import { addressOf } from "../browser/routes";
import { Icon } from "../design/icon";
import { useSessionNow } from "../design/use_clock";
import { sessionNetText } from "../sessions/session_summary";
import { listedId, listedTable } from "../tables/tables";
import { inLanguage } from "../words/language";
import { amount, cents } from "../words/money";
import { dateTime, durationInWords } from "../words/times";
import type { PlayerOverview, UnfinishedRound } from "./player_overview";
import { lobbyWords } from "./words";
import "./player_panel.css";

export function PlayerPanel({ own }: { own: PlayerOverview }) {
  const words = lobbyWords();
  if (identity.value.kind === "nobody") return null;
  const { running, last, unfinished } = own;
  return (
    <section class="player-line" aria-label={words.yours} data-testid="player-line">
      {unfinished.map((round) => (
        <UnfinishedRoundNotice key={round.roundId} round={round} />
      ))}
      <div class="player-parts">
        <div class="player-part">
          {identity.value.kind === "player" && <BalanceView mode="MODE_REAL" titled />}
          <BalanceView mode="MODE_DEMO" titled />
          {identity.value.kind === "player" && operator.value.cashier_url && (
            <button type="button" class="button" onClick={goToCashier}>
              <Icon name="money" />
              {words.cashier}
            </button>
          )}
        </div>
        {running.length > 0 && (
          <div class="player-part">
            <h2>{words.running}</h2>
            <ul>
              {running.map((session) => (
                <RunningSession key={session.session_id} session={session} />
              ))}
            </ul>
          </div>
        )}
        {last && <LastSession {...last} />}
      </div>
    </section>
  );
}

function tableName(tableId: string): string {
  return inLanguage(listedTable(tableId)?.configuration?.name) || tableId;
}

function UnfinishedRoundNotice({ round }: { round: UnfinishedRound }) {
  const words = lobbyWords();
  return (
    <div class="player-incomplete" role="status" data-testid="incomplete">
      <Icon name="clock" />
      <div>
        <strong>{words.incomplete(tableName(round.tableId))}</strong>
        <p class="quiet">{words.incompleteHint(amount(round.staked, round.mode))}</p>
      </div>
      <a class="button first" href={addressOf({ page: "table", tableId: listedId(round.tableId) })}>
        {words.incompleteGo}
      </a>
    </div>
  );
}

function RunningSession({ session }: { session: Session }) {
  const words = lobbyWords();
  const now = useSessionNow(1000);
  const time = durationInWords((now - Date.parse(session.started_at ?? "")) / 1000);
  return (
    <li class="player-running" data-testid="running">
      <span>
        <strong>{tableName(session.table_id)}</strong>{" "}
        <span class="quiet figures">
          {session.state === "SESSION_STATE_ENDING" ? words.endingSoon : words.playingFor(time)}
        </span>
      </span>
      <a class="button" href={addressOf({ page: "table", tableId: listedId(session.table_id) })} data-testid="go-on">
        {words.goOn}
      </a>
    </li>
  );
}

function LastSession({ session, summary }: { session: Session; summary: SessionSummary | undefined }) {
  const words = lobbyWords();
  const net = cents(summary?.net_cents);
  return (
    <div class="player-part" data-testid="last-session">
      <h2>{words.last}</h2>
      <p>
        {tableName(session.table_id)}{" "}
        <span class="quiet figures">
          {words.lastLine(dateTime(session.started_at), durationInWords(Number(summary?.duration_ms ?? 0) / 1000))}
        </span>
      </p>
      {summary && (
        <p class={net > 0 ? "good" : ""}>
          {sessionNetText(net)}
          {net !== 0 && <strong class="figures"> {amount(Math.abs(net), session.mode)}</strong>}
        </p>
      )}
      <a href={addressOf({ page: "account", part: "sessions" })}>{words.details}</a>
    </div>
  );
}
