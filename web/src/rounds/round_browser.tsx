// The player's rounds, newest first, and the details of the chosen one.
import { useState } from "preact/hooks";
import type { PlayerRound } from "../api/messages";
import { call, identity } from "../api/platform";
import { Icon } from "../design/icon";
import { loadedGame } from "../game_interface/registered_games";
import { PagedList } from "../paging/paged_list";
import { pageRequest, usePages } from "../paging/pages";
import { listedTable } from "../tables/tables";
import { inLanguage } from "../words/language";
import { amount, cents } from "../words/money";
import { dateTime } from "../words/times";
import { roundNet, roundNetText } from "./round_net";
import { RoundStory } from "./round_story";
import { roundWords } from "./words";
import "../paging/list_and_detail.css";

interface Props {
  game: string;
  /** Only rounds at this table. */
  tableId?: string;
  /** Rounds whose result is still being shown: the list does not reveal it first. */
  pending?: readonly string[];
  onComplain: (round: PlayerRound) => void;
}

const PAGE = 20;

export function RoundBrowser({ game, tableId, pending = [], onComplain }: Props) {
  const words = roundWords();
  const playerId = identity.value.kind === "nobody" ? "" : identity.value.playerId;
  const pages = usePages<PlayerRound>(`${game}/${playerId}/${tableId ?? ""}`, async (token) => {
    const found = await call("TableService.ListPlayerRounds", {
      game,
      player_id: playerId,
      ...pageRequest(PAGE, token),
      ...(tableId ? { table_id: tableId } : {}),
    });
    return { items: found.rounds, next: found.next_page_token };
  });
  const shown = pages.items?.filter((round) => !pending.includes(round.round?.round_id ?? "")) ?? null;
  const [chosenId, setChosenId] = useState<string | null>(null);
  const chosen = shown?.find((round) => round.round?.round_id === chosenId);
  return (
    <div class={chosen ? "list-detail list-detail-chosen" : "list-detail"}>
      <div class="list-detail-list">
        <PagedList pages={{ ...pages, items: shown }} icon="history" nothing={words.nothing}>
          {(rounds) => (
            <ul aria-label={words.list}>
              {rounds.map((round) => (
                <li key={round.round?.round_id}>
                  <RoundLine
                    game={game}
                    round={round}
                    chosen={round === chosen}
                    onChoose={() => setChosenId(round.round?.round_id ?? null)}
                    withTable={!tableId}
                  />
                </li>
              ))}
            </ul>
          )}
        </PagedList>
      </div>
      <section class="list-detail-shown" aria-label={words.chosenRound} aria-live="polite">
        {chosen ? (
          <>
            <button type="button" class="button plain list-detail-back" onClick={() => setChosenId(null)}>
              <Icon name="back" />
              {words.backToList}
            </button>
            <RoundStory game={game} round={chosen} onComplain={onComplain} />
          </>
        ) : (
          shown && shown.length > 0 && <p class="list-detail-hint">{words.choose}</p>
        )}
      </section>
    </div>
  );
}

interface OneProps {
  game: string;
  round: PlayerRound;
  chosen: boolean;
  onChoose: () => void;
  withTable: boolean;
}

function RoundLine({ game: id, round, chosen, onChoose, withTable }: OneProps) {
  const table = listedTable(round.table_id);
  const game = loadedGame(id);
  const outcome = round.round?.outcome;
  const net = roundNet(round);
  return (
    <button
      type="button"
      class="list-line"
      aria-current={chosen ? "true" : undefined}
      onClick={onChoose}
      data-testid="round"
    >
      <span class="list-line-what">
        <strong>{outcome && game ? game.outcome(outcome) : roundNetText(round)}</strong>
        <span class="quiet figures">
          {dateTime(round.round?.opened_at)}
          {withTable && ` · ${inLanguage(table?.configuration?.name) || round.table_id}`}
        </span>
      </span>
      <span class="list-line-sum figures">
        <span class={net !== null && net > 0 ? "good" : ""}>{roundNetText(round)}</span>
        <span class="quiet">
          {roundWords().staked} {amount(cents(round.staked_cents), round.mode)}
        </span>
      </span>
    </button>
  );
}
