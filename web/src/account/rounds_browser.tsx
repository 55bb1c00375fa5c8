// The player's rounds, newest first, and the chosen one told again beside them.
import { useState } from "preact/hooks";
import type { PlayerRound } from "../api/messages";
import { call, who } from "../api/platform";
import { Icon } from "../design/icon";
import { gameOf } from "../loaded_games";
import { listedTable } from "../lobby/tables";
import { said } from "../words/language";
import { moment } from "../words/moments";
import { amount, cents } from "../words/money";
import { PagedList } from "./paged_list";
import { usePages } from "./pages";
import { netInWords, netOf } from "./round_net";
import { RoundStory } from "./round_story";
import { roundsWords } from "./rounds_words";

interface Props {
  game: string;
  /** At this table only. */
  tableId?: string;
  /** Rounds that are still being shown: their end is not told here first. */
  unfolding?: readonly string[];
  onComplain: (round: PlayerRound) => void;
}

const PAGE = 20;

export function RoundsBrowser({ game, tableId, unfolding = [], onComplain }: Props) {
  const words = roundsWords();
  const playerId = who.value.kind === "nobody" ? "" : who.value.playerId;
  const pages = usePages<PlayerRound>(`${game}/${playerId}/${tableId ?? ""}`, async (page_token) => {
    const found = await call("TableService.ListPlayerRounds", {
      game,
      player_id: playerId,
      page_size: PAGE,
      ...(tableId ? { table_id: tableId } : {}),
      ...(page_token ? { page_token } : {}),
    });
    return { items: found.rounds, next: found.next_page_token };
  });
  const shown = pages.items?.filter((round) => !unfolding.includes(round.round?.round_id ?? "")) ?? null;
  const [chosenId, choose] = useState<string | null>(null);
  const chosen = shown?.find((round) => round.round?.round_id === chosenId);
  return (
    <div class={chosen ? "rounds rounds-chosen" : "rounds"}>
      <div class="rounds-list">
        <PagedList pages={{ ...pages, items: shown }} icon="history" nothing={words.nothing}>
          {(rounds) => (
            <ul aria-label={words.list}>
              {rounds.map((round) => (
                <li key={round.round?.round_id}>
                  <OneRound
                    round={round}
                    chosen={round === chosen}
                    onChoose={() => choose(round.round?.round_id ?? null)}
                    withTable={!tableId}
                  />
                </li>
              ))}
            </ul>
          )}
        </PagedList>
      </div>
      <section class="rounds-told" aria-label={words.told} aria-live="polite">
        {chosen ? (
          <>
            <button type="button" class="button plain rounds-back" onClick={() => choose(null)}>
              <Icon name="back" />
              {words.back_to_list}
            </button>
            <RoundStory round={chosen} onComplain={onComplain} />
          </>
        ) : (
          shown && shown.length > 0 && <p class="rounds-choose">{words.choose}</p>
        )}
      </section>
    </div>
  );
}

interface OneProps {
  round: PlayerRound;
  chosen: boolean;
  onChoose: () => void;
  withTable: boolean;
}

function OneRound({ round, chosen, onChoose, withTable }: OneProps) {
  const table = listedTable(round.table_id);
  const game = gameOf(table?.configuration?.game);
  const outcome = round.round?.outcome;
  const net = netOf(round);
  return (
    <button
      type="button"
      class="round-line"
      aria-current={chosen ? "true" : undefined}
      onClick={onChoose}
      data-testid="round"
    >
      <span class="round-line-what">
        <strong>{outcome && game ? game.outcome(outcome) : netInWords(round)}</strong>
        <span class="quiet figures">
          {moment(round.round?.opened_at)}
          {withTable && ` · ${said(table?.configuration?.name) || round.table_id}`}
        </span>
      </span>
      <span class="round-line-sum figures">
        <span class={net !== null && net > 0 ? "good" : ""}>{netInWords(round)}</span>
        <span class="quiet">
          {roundsWords().staked} {amount(cents(round.staked_cents), round.mode)}
        </span>
      </span>
    </button>
  );
}
