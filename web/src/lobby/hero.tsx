// What this is, in one line, and the one click that leads to a felt.
import type { TableSummary } from "../api/messages";
import { logIn, operator, who } from "../api/platform";
import { Icon } from "../design/icon";
import { gameOf } from "../loaded_games";
import { address } from "../routes";
import { lobbyWords } from "./words";
import "./hero.css";

interface Props {
  /** Where the click leads. */
  good: TableSummary | undefined;
  /** It is not known yet: its place is kept. */
  reading: boolean;
}

export function Hero({ good, reading }: Props) {
  const words = lobbyWords();
  const game = gameOf(good?.configuration?.game);
  const alone = reading || good?.configuration?.play === "PLAY_INDIVIDUAL";
  return (
    <section class="hero">
      <div class="hero-words">
        <h1 tabIndex={-1}>{words.heroTitle}</h1>
        <p>{words.heroText}</p>
        <div class="row">
          <PlayNow good={good} reading={reading} />
          {who.value.kind !== "player" && operator.value.login_url && (
            <button type="button" class="button" onClick={logIn}>
              {words.logIn}
            </button>
          )}
        </div>
        {(good || reading) && who.value.kind !== "player" && (
          <p class="quiet hero-hint">{alone ? words.heroHintAlone : words.heroHint}</p>
        )}
      </div>
      <div class="hero-picture" aria-hidden="true">
        {game && good?.configuration && <game.Picture configuration={good.configuration} />}
      </div>
    </section>
  );
}

function PlayNow({ good, reading }: Props) {
  const words = lobbyWords();
  const said = (
    <>
      <Icon name="play" />
      {words.heroNow}
    </>
  );
  if (good) {
    const there = address({ page: "table", tableId: good.table_id });
    return (
      <a class="button first hero-now" href={there} data-testid="play-now">
        {said}
      </a>
    );
  }
  if (!reading) return null;
  return (
    <button type="button" class="button first hero-now" disabled>
      {said}
    </button>
  );
}
