// Leaving: ending the session, or only going back to the tables while it goes on. The player decides (804/2015:27).
import { useState } from "preact/hooks";
import { balances } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Sheet } from "../design/sheet";
import { say } from "../design/toast";
import { address } from "../routes";
import { cents } from "../words/money";
import type { LiveTable } from "./live_table";
import { refusalWords } from "./refusal_words";
import { tableWords } from "./words";

interface Props {
  table: LiveTable;
  onClose: () => void;
}

export async function endSession(table: LiveTable): Promise<void> {
  try {
    await table.leave();
  } catch (error) {
    say(refusalWords(error instanceof Refusal ? error : new Refusal("", {}, "", ""), table.mode.value), "bad");
  }
}

export function LeaveSheet({ table, onClose }: Props) {
  const words = tableWords();
  const [ending, end] = useState(false);
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
          <a class="button" href={address({ page: "lobby" })} onClick={onClose} data-testid="to-tables-open">
            {words.toTablesOpen}
          </a>
          <button
            type="button"
            class="button first"
            disabled={ending}
            onClick={() => {
              end(true);
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
      {staked && <p>{words.leaveWithBets}</p>}
      <p class="quiet">{words.leaveOpen}</p>
    </Sheet>
  );
}
