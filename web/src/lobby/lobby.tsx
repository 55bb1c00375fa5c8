// Before one plays: what this is, what is one's own, and the tables.
import { useState } from "preact/hooks";
import type { Mode, TableSummary } from "../api/messages";
import { logIn, operator, who } from "../api/platform";
import { serverNow } from "../api/server_clock";
import { Empty } from "../design/empty";
import { RulesSheet } from "../table/rules";
import { said } from "../words/language";
import { goodTable } from "./choice";
import { Hero } from "./hero";
import { useLiveTables } from "./live_tables";
import { useOwn } from "./own";
import { PlayerLine } from "./player_line";
import { TableCard } from "./table_card";
import { listedId, tables } from "./tables";
import { useTables } from "./use_tables";
import { lobbyWords } from "./words";
import "./lobby.css";

export function Lobby() {
  const words = lobbyWords();
  const [chosen, choose] = useState<Mode | null>(null);
  const [rulesOf, showRules] = useState<TableSummary | null>(null);
  const { failed, read } = useTables();
  const own = useOwn();
  const all = tables.value ?? [];
  // What is one's own and the tables come together: nothing that can be clicked moves.
  const reading = !failed && (tables.value === null || !own.known);
  const mode = chosen ?? (who.value.kind === "player" ? "MODE_REAL" : "MODE_DEMO");
  const many = all.filter(({ enabled, configuration }) => enabled && configuration?.play !== "PLAY_INDIVIDUAL");
  const shown = all.filter(({ configuration }) => configuration?.mode === mode);
  const watched = many.filter(
    ({ configuration }) => configuration?.mode === mode || configuration?.mode === "MODE_DEMO",
  );
  const live = useLiveTables(watched.map(({ table_id }) => table_id));
  const sits = new Set(own.running.map((session) => listedId(session.table_id)));
  const games = [...new Set(shown.map(({ configuration }) => configuration?.game ?? ""))];
  return (
    <div class="lobby">
      <Hero good={goodTable(all, live, serverNow())} reading={reading} />
      {reading ? (
        <Waiting />
      ) : (
        <>
          <PlayerLine own={own} />
          {tables.value === null ? (
            <Empty
              icon="warning"
              title={words.failed}
              actions={
                <button type="button" class="button first" onClick={read}>
                  {words.again}
                </button>
              }
            />
          ) : (
            <>
              <div class="lobby-modes">
                <ModeSwitch mode={mode} choose={choose} />
                <p class="quiet">{hintOf(mode)}</p>
                {mode === "MODE_REAL" && who.value.kind !== "player" && operator.value.login_url && (
                  <button type="button" class="button" onClick={logIn}>
                    {words.logIn}
                  </button>
                )}
              </div>
              {games.map((game) => (
                <section key={game} class="lobby-game" aria-labelledby={`game-${game}`}>
                  <h2 id={`game-${game}`}>{words.games[game] ?? game}</h2>
                  <div class="lobby-tables">
                    {shown
                      .filter(({ configuration }) => configuration?.game === game)
                      .sort(manyFirst)
                      .map((table) => (
                        <TableCard
                          key={table.table_id}
                          table={table}
                          live={live[table.table_id]}
                          sits={sits.has(table.table_id)}
                          onRules={() => showRules(table)}
                        />
                      ))}
                  </div>
                </section>
              ))}
              {shown.length === 0 && (
                <Empty icon="board" title={words.noTables}>
                  <p>{words.noTablesHint}</p>
                </Empty>
              )}
            </>
          )}
        </>
      )}
      {rulesOf && (
        <RulesSheet
          tableId={rulesOf.table_id}
          name={said(rulesOf.configuration?.name)}
          onClose={() => showRules(null)}
        />
      )}
    </div>
  );
}

const CARDS_WAITING = 6;

/** The places of what is being read. */
function Waiting() {
  return (
    <>
      <p class="unseen" role="status">
        {lobbyWords().reading}
      </p>
      <div class="lobby-tables lobby-waiting" aria-hidden="true">
        {Array.from({ length: CARDS_WAITING }, (_, no) => (
          <div key={no} class="table-card">
            <div class="table-card-picture" />
          </div>
        ))}
      </div>
    </>
  );
}

function hintOf(mode: Mode): string {
  const words = lobbyWords();
  if (mode === "MODE_DEMO") return words.creditsHint;
  return who.value.kind === "player" ? words.moneyHint : words.moneyLogIn;
}

function manyFirst(one: TableSummary, other: TableSummary): number {
  const alone = (table: TableSummary) => Number(table.configuration?.play === "PLAY_INDIVIDUAL");
  return alone(one) - alone(other);
}

function ModeSwitch({ mode, choose }: { mode: Mode; choose: (mode: Mode) => void }) {
  const words = lobbyWords();
  const modes = [
    ["MODE_DEMO", words.credits],
    ["MODE_REAL", words.money],
  ] as const;
  return (
    <fieldset class="mode-switch">
      <legend class="unseen">{words.modes}</legend>
      {modes.map(([name, label]) => (
        <button
          key={name}
          type="button"
          aria-pressed={mode === name}
          onClick={() => choose(name)}
          data-testid={`mode-${name}`}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
