// Leaving a table: ending the session, or returning to the lobby while it goes on. The player decides (804/2015:27).
import { useState } from "preact/hooks";
import { balances } from "../../api/platform";
import { asRefusal } from "../../api/refusal";
import { addressOf } from "../../browser/routes";
import { Sheet } from "../../design/overlays/sheet";
import { notify } from "../../design/overlays/toast";
import { loadedGame } from "../../game_interface/registered_games";
import { cents } from "../../words/money";
import { refusalText } from "../../words/refusals";
import type { LiveTable } from "../live/live_table";
import { tableWords } from "./words";

interface Props {
  table: LiveTable;
  onClose: () => void;
}

export async function endSession(table: LiveTable): Promise<void> {
  try {
    await table.leave();
  } catch (error) {
    notify(refusalText(asRefusal(error), table.mode.value), "bad");
  }
}

export function LeaveSheet({ table, onClose }: Props) {
  const words = tableWords();
  const [ending, setEnding] = useState(false);
  const game = loadedGame(table.snapshot.value?.configuration?.game);
  const staked = cents(balances.value[table.mode.value]?.locked_cents) > 0;
  return (
    <Sheet
      title={words.leaveTitle}
      onClose={onClose}
      testId="leave-sheet"
      actions={
        <>
          <button type="button" class="button plain" onClick={onClose}>
            {words.stay}
          </button>
          <a class="button" href={addressOf({ page: "lobby" })} onClick={onClose} data-testid="to-tables-open">
            {words.toTablesOpen}
          </a>
          <button
            type="button"
            class="button first"
            disabled={ending}
            onClick={() => {
              setEnding(true);
              void endSession(table).then(onClose);
            }}
            data-testid="end-session"
          >
            {words.endSession}
          </button>
        </>
      }
    >
      <p>{words.leaveText}</p>
      {game?.LeaveNote ? <game.LeaveNote table={table} /> : staked && <p>{words.leaveWithBets}</p>}
      <p class="quiet">{words.leaveOpen}</p>
    </Sheet>
  );
}
