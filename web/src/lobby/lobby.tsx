// The lobby: a welcome, the player's own sessions, and the tables.
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import type { Mode, TableSummary } from "../api/messages";
import { identity, logIn, operator } from "../api/platform";
import { serverNow } from "../api/server_clock";
import { Empty } from "../design/empty";
import { gameIds, gameName, loadedGame } from "../game_interface/registered_games";
import { RulesSheet } from "../rules/rules_sheet";
import { listedId, listedTables } from "../tables/tables";
import { useTables } from "../tables/use_tables";
import { inLanguage } from "../words/language";
import { Hero } from "./hero";
import { useLiveTables } from "./live_tables";
import { usePlayerOverview } from "./player_overview";
import { PlayerPanel } from "./player_panel";
import { recommendedTable } from "./recommended_table";
import { TableCard } from "./table_card";
import { lobbyWords } from "./words";
import "./lobby.css";

export function Lobby() {
  const words = lobbyWords();
  const [chosen, setChosen] = useState<Mode | null>(null);
  const [chosenGame, setChosenGame] = useState<string | null>(null);
  const [rulesOf, setRulesOf] = useState<TableSummary | null>(null);
  const { failed, read } = useTables();
  const own = usePlayerOverview();
  const all = listedTables.value ?? [];
  // The player's panel and the tables appear together, so that nothing clickable moves.
  const reading = !failed && (listedTables.value === null || !own.known);
  const mode = chosen ?? (identity.value.kind === "player" ? "MODE_REAL" : "MODE_DEMO");
  const many = all.filter(({ enabled, configuration }) => enabled && configuration?.play !== "PLAY_INDIVIDUAL");
  const inMode = all.filter(({ configuration }) => configuration?.mode === mode);
  const offered = [...new Set(inMode.map(({ configuration }) => configuration?.game ?? ""))];
  // A game whose tables are gone is shown no more.
  const onlyGame = offered.includes(chosenGame ?? "") ? chosenGame : null;
  const ofGame = (table: TableSummary) => onlyGame === null || table.configuration?.game === onlyGame;
  const shown = inMode.filter(ofGame);
  const games = onlyGame === null ? offered : [onlyGame];
  // Those on the screen first: there is a limit of tables that are watched.
  const watched = [
    ...many.filter(({ configuration }) => configuration?.mode === mode),
    ...many.filter(({ configuration }) => configuration?.mode !== mode && configuration?.mode === "MODE_DEMO"),
  ].sort((one, other) => Number(ofGame(other)) - Number(ofGame(one)));
  const live = useLiveTables(watched.map(({ table_id }) => table_id));
  const sits = new Set(own.running.map((session) => listedId(session.table_id)));
  return (
    <div class="lobby">
      <Hero good={recommendedTable(all.filter(ofGame), live, serverNow())} reading={reading} />
      {reading ? (
        <WaitingCards />
      ) : (
        <>
          <PlayerPanel own={own} />
          {listedTables.value === null ? (
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
                <ModeSwitch mode={mode} choose={setChosen} />
                {offered.length > 1 && <GameSwitch games={offered} chosen={onlyGame} choose={setChosenGame} />}
                <p class="quiet">{hintOf(mode)}</p>
                {mode === "MODE_REAL" && identity.value.kind !== "player" && operator.value.login_url && (
                  <button type="button" class="button" onClick={logIn}>
                    {words.logIn}
                  </button>
                )}
              </div>
              {gameIds().map((game) => (
                <Fragment key={game}>
                  {games.includes(game) && (
                    <section class="lobby-game" aria-labelledby={`game-${game}`}>
                      <h2 id={`game-${game}`}>{gameName(game)}</h2>
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
                              onRules={() => setRulesOf(table)}
                            />
                          ))}
                      </div>
                    </section>
                  )}
                  {(onlyGame === null || onlyGame === game) && <OfGame game={game} mode={mode} />}
                </Fragment>
              ))}
              {shown.length === 0 && (
                <Empty icon="table" title={words.noTables}>
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
          name={inLanguage(rulesOf.configuration?.name)}
          onClose={() => setRulesOf(null)}
        />
      )}
    </div>
  );
}

/** What a game offers besides its tables. */
function OfGame({ game, mode }: { game: string; mode: Mode }) {
  const Section = loadedGame(game)?.LobbySection;
  return Section ? <Section mode={mode} /> : null;
}

const CARDS_WAITING = 6;

/** Placeholders while the tables are being read. */
function WaitingCards() {
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
  return identity.value.kind === "player" ? words.moneyHint : words.moneyLogIn;
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
    <fieldset class="pills">
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

/** Which game's tables are shown: one, or all. */
function GameSwitch(props: { games: string[]; chosen: string | null; choose: (game: string | null) => void }) {
  const words = lobbyWords();
  const choices: [string | null, string][] = [[null, words.allGames], ...props.games.map(named)];
  return (
    <fieldset class="pills lobby-games">
      <legend class="unseen">{words.games}</legend>
      {choices.map(([game, label]) => (
        <button
          key={game}
          type="button"
          aria-pressed={props.chosen === game}
          onClick={() => props.choose(game)}
          data-testid={`game-${game ?? "all"}`}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}

function named(game: string): [string, string] {
  return [game, gameName(game)];
}
