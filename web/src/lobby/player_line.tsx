// What is the player's own, above the tables: balance, sessions that run, the last one, and rounds that are not finished.
import { BalanceShown } from "../account/balance";
import type { Session, SessionSummary } from "../api/messages";
import { operator, toCashier, who } from "../api/platform";
import { Icon } from "../design/icon";
import { address } from "../routes";
import { netWords } from "../table/session_summary";
import { useSessionNow } from "../table/ticking";
import { said } from "../words/language";
import { moment, seconds, spanSaid } from "../words/moments";
import { amount, cents } from "../words/money";
import type { Own, Unfinished } from "./own";
import { listedId, listedTable } from "./tables";
import { lobbyWords } from "./words";
import "./player_line.css";

export function PlayerLine({ own }: { own: Own }) {
  const words = lobbyWords();
  if (who.value.kind === "nobody") return null;
  const { running, last, unfinished } = own;
  return (
    <section class="player-line" aria-label={words.yours} data-testid="player-line">
      {unfinished.map((round) => (
        <UnfinishedRound key={round.roundId} round={round} />
      ))}
      <div class="player-parts">
        <div class="player-part">
          {who.value.kind === "player" && <BalanceShown mode="MODE_REAL" titled />}
          <BalanceShown mode="MODE_DEMO" titled />
          {who.value.kind === "player" && operator.value.cashier_url && (
            <button type="button" class="button" onClick={toCashier}>
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
                <Running key={session.session_id} session={session} />
              ))}
            </ul>
          </div>
        )}
        {last && <Last {...last} />}
      </div>
    </section>
  );
}

function nameOf(tableId: string): string {
  return said(listedTable(tableId)?.configuration?.name) || tableId;
}

function UnfinishedRound({ round }: { round: Unfinished }) {
  const words = lobbyWords();
  return (
    <div class="player-incomplete" role="status" data-testid="incomplete">
      <Icon name="clock" />
      <div>
        <strong>{words.incomplete(nameOf(round.tableId))}</strong>
        <p class="quiet">{words.incompleteHint(amount(round.staked, round.mode))}</p>
      </div>
      <a class="button first" href={address({ page: "table", tableId: listedId(round.tableId) })}>
        {words.incompleteGo}
      </a>
    </div>
  );
}

function Running({ session }: { session: Session }) {
  const words = lobbyWords();
  const now = useSessionNow(1000);
  const time = spanSaid((now - Date.parse(session.started_at ?? "")) / 1000);
  return (
    <li class="player-running" data-testid="running">
      <span>
        <strong>{nameOf(session.table_id)}</strong>{" "}
        <span class="quiet figures">
          {session.state === "SESSION_STATE_ENDING" ? words.endingSoon : words.playingFor(time)}
        </span>
      </span>
      <a class="button" href={address({ page: "table", tableId: listedId(session.table_id) })} data-testid="go-on">
        {words.goOn}
      </a>
    </li>
  );
}

function Last({ session, summary }: { session: Session; summary: SessionSummary | undefined }) {
  const words = lobbyWords();
  const net = cents(summary?.net_cents);
  return (
    <div class="player-part" data-testid="last-session">
      <h2>{words.last}</h2>
      <p>
        {nameOf(session.table_id)}{" "}
        <span class="quiet figures">
          {words.lastLine(moment(session.started_at), spanSaid(seconds(summary?.played)))}
        </span>
      </p>
      {summary && (
        <p class={net > 0 ? "good" : ""}>
          {netWords(net)}
          {net !== 0 && <strong class="figures"> {amount(Math.abs(net), session.mode)}</strong>}
        </p>
      )}
      <a href={address({ page: "account", part: "sessions" })}>{words.details}</a>
    </div>
  );
}
