// What this is, in one line, and the one click that leads to a felt.
import type { TableSummary } from "../api/messages";
import { logIn, operator, who } from "../api/platform";
import { Icon } from "../design/icon";
import { gameOf } from "../loaded_games";
import { address } from "../routes";
import { lobbyWords } from "./words";
import "./hero.css";

export function Hero({ good }: { good: TableSummary | undefined }) {
  const words = lobbyWords();
  const game = gameOf(good?.configuration?.game);
  return (
    <section class="hero">
      <div class="hero-words">
        <h1 tabIndex={-1}>{words.heroTitle}</h1>
        <p>{words.heroText}</p>
        <div class="row">
          {good && (
            <a
              class="button first hero-now"
              href={address({ page: "table", tableId: good.table_id })}
              data-testid="play-now"
            >
              <Icon name="play" />
              {words.heroNow}
            </a>
          )}
          {who.value.kind !== "player" && operator.value.login_url && (
            <button type="button" class="button" onClick={logIn}>
              {words.logIn}
            </button>
          )}
        </div>
        {good && who.value.kind !== "player" && <p class="quiet hero-hint">{words.heroHint}</p>}
      </div>
      <div class="hero-picture" aria-hidden="true">
        {game && good?.configuration && <game.Picture configuration={good.configuration} />}
      </div>
    </section>
  );
}
