// What the player did and what he has: his rounds, sessions, money and complaints.
import { useState } from "preact/hooks";
import type { PlayerRound } from "../api/messages";
import { logIn, operator, who } from "../api/platform";
import { Empty } from "../design/empty";
import { GAMES } from "../games";
import { useTables } from "../lobby/use_tables";
import { lobbyWords } from "../lobby/words";
import { address, type Route } from "../routes";
import { ComplaintSheet } from "../table/complaint";
import { moment } from "../words/moments";
import { Complaints } from "./complaints";
import { Money } from "./money";
import { RoundsBrowser } from "./rounds_browser";
import { Sessions } from "./sessions";
import { accountWords } from "./words";
import "./account_page.css";

type Part = Extract<Route, { page: "account" }>["part"];

const PARTS: readonly Part[] = ["rounds", "sessions", "money", "complaints"];

export function AccountPage({ part }: { part: Part }) {
  const words = accountWords();
  // Rounds and sessions are told with the names of their tables.
  useTables();
  if (who.value.kind === "nobody") return <NobodyYet />;
  return (
    <div class="account">
      <div>
        <h1 tabIndex={-1}>{words.title}</h1>
        {who.value.kind === "guest" && <p class="quiet">{words.guest}</p>}
      </div>
      <nav class="tabs-list" aria-label={words.title}>
        {PARTS.map((name) => (
          <a
            key={name}
            href={address({ page: "account", part: name })}
            aria-current={name === part ? "page" : undefined}
            data-testid={`account-${name}`}
          >
            {words.parts[name]}
          </a>
        ))}
      </nav>
      <section aria-label={words.parts[part]}>
        {part === "rounds" && <Rounds />}
        {part === "sessions" && <Sessions />}
        {part === "money" && <Money />}
        {part === "complaints" && <Complaints />}
      </section>
    </div>
  );
}

function NobodyYet() {
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
          <a class="button" href={address({ page: "lobby" })}>
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
  const games = Object.keys(GAMES);
  const [game, choose] = useState(games[0] ?? "");
  const [complainOf, complain] = useState<PlayerRound | null>(null);
  const round = complainOf?.round;
  return (
    <>
      {games.length > 1 && (
        <select value={game} onChange={(event) => choose(event.currentTarget.value)}>
          {games.map((name) => (
            <option key={name} value={name}>
              {lobbyWords().games[name] ?? name}
            </option>
          ))}
        </select>
      )}
      <RoundsBrowser game={game} onComplain={complain} />
      {complainOf && round && (
        <ComplaintSheet
          mode={complainOf.mode}
          subjects={[{ kind: "round", id: round.round_id, label: accountWords().onRound(moment(round.opened_at)) }]}
          onClose={() => complain(null)}
        />
      )}
    </>
  );
}
