// The lobby's welcome, with the button that leads to a table at once.
import type { TableSummary } from "../api/messages";
import { identity, logIn, operator } from "../api/platform";
import { addressOf } from "../browser/routes";
import { Icon } from "../design/icon";
import { gameEntry, gameIds, loadedGame } from "../game_interface/registered_games";
import { lobbyWords } from "./words";
import "./hero.css";

interface Props {
  /** Where the button leads. */
  good: TableSummary | undefined;
  /** The tables are not known yet: the button's place is kept. */
  reading: boolean;
}

export function Hero({ good, reading }: Props) {
  const words = lobbyWords();
  const id = good?.configuration?.game;
  const game = loadedGame(id);
  const texts = gameEntry(id ?? gameIds()[0])?.texts();
  const alone = reading || good?.configuration?.play === "PLAY_INDIVIDUAL";
  return (
    <section class="hero">
      <div class="hero-words">
        <h1 tabIndex={-1}>{words.heroTitle}</h1>
        <p>{texts?.introduction}</p>
        <div class="row">
          <PlayNow good={good} reading={reading} />
          {identity.value.kind !== "player" && operator.value.login_url && (
            <button type="button" class="button" onClick={logIn}>
              {words.logIn}
            </button>
          )}
        </div>
        {(good || reading) && identity.value.kind !== "player" && (
          <p class="quiet hero-hint">{alone ? texts?.individualStart : words.heroHint}</p>
        )}
      </div>
      <div class="hero-picture" aria-hidden="true">
        {game && good?.configuration && <game.LobbyPicture configuration={good.configuration} />}
      </div>
    </section>
  );
}

function PlayNow({ good, reading }: Props) {
  const words = lobbyWords();
  const label = (
    <>
      <Icon name="play" />
      {words.heroNow}
    </>
  );
  if (good) {
    const there = addressOf({ page: "table", tableId: good.table_id });
    return (
      <a class="button first hero-now" href={there} data-testid="play-now">
        {label}
      </a>
    );
  }
  if (!reading) return null;
  return (
    <button type="button" class="button first hero-now" disabled>
      {label}
    </button>
  );
}
