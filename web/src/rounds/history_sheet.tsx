// Sheets on past rounds at a table: the player's last round, all the player's rounds, and those of the table.
import { useEffect, useState } from "preact/hooks";
import type { PlayerRound, TableRound } from "../api/messages";
import { call } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Sheet } from "../design/overlays/sheet";
import { Tabs } from "../design/tabs";
import { loadedGame } from "../game_interface/registered_games";
import { PagedList } from "../paging/paged_list";
import { pageRequest, usePages } from "../paging/pages";
import { refusalText } from "../words/refusals";
import { dateTime } from "../words/times";
import { readLastRound } from "./last_round";
import { RoundBrowser } from "./round_browser";
import { RoundStory } from "./round_story";
import { roundWords } from "./words";

interface Props {
  game: string;
  /** The table that is played; at an individual table the player's own. */
  tableId: string;
  /** Rounds whose result is still being shown: the sheet does not reveal it first. */
  pending: readonly string[];
  onComplain: (round: PlayerRound) => void;
  onClose: () => void;
}

export function HistorySheet({ game, tableId, pending, onComplain, onClose }: Props) {
  const words = roundWords();
  const [shown, setShown] = useState<"mine" | "table">("mine");
  const tabs = [
    { name: "mine", label: words.historyMine },
    { name: "table", label: words.historyTable },
  ] as const;
  return (
    <Sheet title={words.historyTitle} wide onClose={onClose} testId="history">
      <Tabs label={words.historyTitle} tabs={tabs} shown={shown} show={setShown}>
        {shown === "mine" ? (
          <RoundBrowser game={game} tableId={tableId} pending={pending} onComplain={onComplain} />
        ) : (
          <RoundsOfTable game={game} tableId={tableId} pending={pending} />
        )}
      </Tabs>
    </Sheet>
  );
}

const PAGE = 50;

function RoundsOfTable({ game, tableId, pending }: Pick<Props, "game" | "tableId" | "pending">) {
  const words = roundWords();
  const loaded = loadedGame(game);
  const pages = usePages<TableRound>(tableId, async (token) => {
    const found = await call("TableService.ListTableRounds", {
      table_id: tableId,
      ...pageRequest(PAGE, token),
    });
    return { items: found.rounds, next: found.next_page_token };
  });
  const shown = pages.items?.filter((round) => !pending.includes(round.round_id)) ?? null;
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
                  <strong>{roundResultText(round, loaded?.outcome)}</strong>
                </td>
                <td class="figures">{dateTime(round.opened_at)}</td>
                <td class="quiet round-number">{round.round_id}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </PagedList>
  );
}

function roundResultText(
  round: TableRound,
  outcomeText: ((outcome: NonNullable<TableRound["outcome"]>) => string) | undefined,
): string {
  const words = roundWords();
  if (round.state === "ROUND_STATE_VOID") return words.void;
  return round.outcome && outcomeText ? outcomeText(round.outcome) : words.underWay;
}

/** The last round in which the player took part (804/2015:24). */
export function LastRoundSheet({ game, tableId, pending, onComplain, onClose }: Props) {
  const words = roundWords();
  const [round, setRound] = useState<PlayerRound | null | undefined>(undefined);
  const [failed, setFailed] = useState<Refusal | null>(null);
  useEffect(() => {
    readLastRound(game, tableId, pending).then(setRound, (error) => error instanceof Refusal && setFailed(error));
    // The round shown stays, whatever ends meanwhile; only while there is none does a change of the pending rounds
    // read again.
  }, [game, tableId, round === null && pending.join()]);
  return (
    <Sheet title={words.lastTitle} onClose={onClose} testId="last-round">
      {failed && <p role="alert">{refusalText(failed, "MODE_REAL")}</p>}
      {round === null && <p class="quiet">{words.lastNone}</p>}
      {round && <RoundStory game={game} round={round} onComplain={onComplain} />}
    </Sheet>
  );
}
