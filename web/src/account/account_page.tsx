// The player's account: rounds, sessions, transactions and complaints.
import { useState } from "preact/hooks";
import type { PlayerRound } from "../api/messages";
import { identity, logIn, operator } from "../api/platform";
import { addressOf, type Route } from "../browser/routes";
import { ComplaintList } from "../complaints/complaint_list";
import { ComplaintSheet } from "../complaints/complaint_sheet";
import { Empty } from "../design/empty";
import { gameIds, gameName } from "../game_interface/registered_games";
import { RoundBrowser } from "../rounds/round_browser";
import { SessionList } from "../sessions/session_list";
import { useTables } from "../tables/use_tables";
import { dateTime } from "../words/times";
import { Money } from "./money";
import { accountWords } from "./words";
import "./account_page.css";

type Part = Extract<Route, { page: "account" }>["part"];

const PARTS: readonly Part[] = ["rounds", "sessions", "money", "complaints"];

export function AccountPage({ part }: { part: Part }) {
  const words = accountWords();
  // Rounds and sessions are shown with the names of their tables.
  useTables();
  if (identity.value.kind === "nobody") return <LoggedOutPage />;
  return (
    <div class="account">
      <div>
        <h1 tabIndex={-1}>{words.title}</h1>
        {identity.value.kind === "guest" && <p class="quiet">{words.guest}</p>}
      </div>
      <nav class="tabs-list" aria-label={words.title}>
        {PARTS.map((name) => (
          <a
            key={name}
            href={addressOf({ page: "account", part: name })}
            aria-current={name === part ? "page" : undefined}
            data-testid={`account-${name}`}
          >
            {words.parts[name]}
          </a>
        ))}
      </nav>
      <section aria-label={words.parts[part]}>
        {part === "rounds" && <Rounds />}
        {part === "sessions" && <SessionList />}
        {part === "money" && <Money />}
        {part === "complaints" && <ComplaintList />}
      </section>
    </div>
  );
}

function LoggedOutPage() {
  const words = accountWords();
  return (
    <Empty
      page
      icon="person"
      title={words.nobody}
      actions={
        <>
          {operator.value.login_url && (
            <button type="button" class="button first" onClick={logIn}>
              {words.logIn}
            </button>
          )}
          <a class="button" href={addressOf({ page: "lobby" })}>
            {words.toTables}
          </a>
        </>
      }
    >
      <p>{words.nobodyText}</p>
    </Empty>
  );
}

function Rounds() {
  const games = gameIds();
  const [game, setGame] = useState(games[0] ?? "");
  const [complainOf, setComplainOf] = useState<PlayerRound | null>(null);
  const round = complainOf?.round;
  return (
    <>
      {games.length > 1 && (
        <div class="field">
          <label for="rounds-game">{accountWords().game}</label>
          <select id="rounds-game" value={game} onChange={(event) => setGame(event.currentTarget.value)}>
            {games.map((name) => (
              <option key={name} value={name}>
                {gameName(name)}
              </option>
            ))}
          </select>
        </div>
      )}
      <RoundBrowser game={game} onComplain={setComplainOf} />
      {complainOf && round && (
        <ComplaintSheet
          mode={complainOf.mode}
          subjects={[{ kind: "round", id: round.round_id, label: accountWords().onRound(dateTime(round.opened_at)) }]}
          onClose={() => setComplainOf(null)}
        />
      )}
    </>
  );
}
