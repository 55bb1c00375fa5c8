// A page of a game's own within the frame, once the game has been fetched.
import { addressOf } from "../browser/routes";
import { Empty } from "../design/empty";
import { gameEntry, loadedGame } from "../game_interface/registered_games";
import { appWords } from "./words";

export function GamePage({ game, place }: { game: string; place: string }) {
  const words = appWords();
  const Page = loadedGame(game)?.Page;
  if (Page) return <Page key={place} place={place} />;
  // A game that is still being fetched.
  if (gameEntry(game) && !loadedGame(game)) return <p role="status">…</p>;
  return (
    <Empty
      icon="warning"
      title={words.noPage}
      page
      actions={
        <a class="button first" href={addressOf({ page: "lobby" })}>
          {words.toTables}
        </a>
      }
    >
      <p>{words.noPageText}</p>
    </Empty>
  );
}
