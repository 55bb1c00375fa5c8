// What was played: the player's last round told again, all of his rounds, and those of the table.
import { useEffect, useState } from "preact/hooks";
import { PagedList } from "../account/paged_list";
import { usePages } from "../account/pages";
import { RoundStory } from "../account/round_story";
import { RoundsBrowser } from "../account/rounds_browser";
import { roundsWords } from "../account/rounds_words";
import type { PlayerRound, TableRound } from "../api/messages";
import { call } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Sheet } from "../design/sheet";
import { Tabs } from "../design/tabs";
import { gameOf } from "../loaded_games";
import { moment } from "../words/moments";
import { lastRound } from "./last_round";
import { refusalWords } from "./refusal_words";
import { tableWords } from "./words";

interface Props {
  game: string;
  /** The table that is played; the player's own at an individual one. */
  tableId: string;
  /** Rounds that are still being shown: their end is not told here first. */
  unfolding: readonly string[];
  onComplain: (round: PlayerRound) => void;
  onClose: () => void;
}

export function HistorySheet({ game, tableId, unfolding, onComplain, onClose }: Props) {
  const words = tableWords();
  const [shown, show] = useState<"mine" | "table">("mine");
  const tabs = [
    { name: "mine", label: words.historyMine },
    { name: "table", label: words.historyTable },
  ] as const;
  return (
    <Sheet title={words.historyTitle} wide onClose={onClose} testId="history">
      <Tabs label={words.historyTitle} tabs={tabs} shown={shown} show={show}>
        {shown === "mine" ? (
          <RoundsBrowser game={game} tableId={tableId} unfolding={unfolding} onComplain={onComplain} />
        ) : (
          <RoundsOfTable game={game} tableId={tableId} unfolding={unfolding} />
        )}
      </Tabs>
    </Sheet>
  );
}

const PAGE = 50;

function RoundsOfTable({ game, tableId, unfolding }: Pick<Props, "game" | "tableId" | "unfolding">) {
  const words = roundsWords();
  const played = gameOf(game);
  const pages = usePages<TableRound>(tableId, async (page_token) => {
    const found = await call("TableService.ListTableRounds", {
      table_id: tableId,
      page_size: PAGE,
      ...(page_token ? { page_token } : {}),
    });
    return { items: found.rounds, next: found.next_page_token };
  });
  const shown = pages.items?.filter((round) => !unfolding.includes(round.round_id)) ?? null;
  return (
    <PagedList pages={{ ...pages, items: shown }} icon="history" nothing={words.nothingOfTable}>
      {(rounds) => (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">{words.result}</th>
              <th scope="col">{words.opened}</th>
              <th scope="col" class="round-number">
                {words.number}
              </th>
            </tr>
          </thead>
          <tbody>
            {rounds.map((round) => (
              <tr key={round.round_id}>
                <td>
                  <strong>{resultOf(round, played?.outcome)}</strong>
                </td>
                <td class="figures">{moment(round.opened_at)}</td>
                <td class="quiet round-number">{round.round_id}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </PagedList>
  );
}

function resultOf(
  round: TableRound,
  told: ((outcome: NonNullable<TableRound["outcome"]>) => string) | undefined,
): string {
  const words = roundsWords();
  if (round.status === "ROUND_STATUS_VOID") return words.void;
  return round.outcome && told ? told(round.outcome) : words.underWay;
}

/** The last round that he took part in (804/2015:24). */
export function LastRoundSheet({ game, tableId, unfolding, onComplain, onClose }: Props) {
  const words = tableWords();
  const [round, setRound] = useState<PlayerRound | null | undefined>(undefined);
  const [failed, fail] = useState<Refusal | null>(null);
  useEffect(() => {
    lastRound(game, tableId, unfolding).then(setRound, (error) => error instanceof Refusal && fail(error));
    // As it was when he asked: what comes to an end meanwhile is there to be asked for again. Only while there is nothing
    // to show is it asked anew.
  }, [game, tableId, round === null && unfolding.join()]);
  return (
    <Sheet title={words.lastTitle} onClose={onClose} testId="last-round">
      {failed && <p role="alert">{refusalWords(failed, "MODE_REAL")}</p>}
      {round === null && <p class="quiet">{words.lastNone}</p>}
      {round && <RoundStory round={round} onComplain={onComplain} />}
    </Sheet>
  );
}
