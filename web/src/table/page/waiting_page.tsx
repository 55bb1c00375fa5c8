// Shown while a table is prepared: its bar, and an empty felt.
import { useEffect, useState } from "preact/hooks";
import { UnreadableTablePage } from "./no_seat_pages";
import { TableBar } from "./table_bar";
import { tableWords } from "./words";

interface Props {
  /** Tries again, where the list of tables could not be read. */
  onAgain?: (() => void) | undefined;
}

export function WaitingPage({ onAgain }: Props) {
  return (
    <div class="table-page">
      <TableBar
        configuration={undefined}
        mode="MODE_DEMO"
        startedAt={undefined}
        resultPending={false}
        seated={false}
        onTool={() => undefined}
        onLeave={() => undefined}
      />
      <main id="main" tabIndex={-1}>
        {onAgain ? <UnreadableTablePage onAgain={onAgain} /> : <WaitingFelt text={tableWords().loading} />}
      </main>
    </div>
  );
}

// Longer than a slow network needs: the page may never get ready by itself.
const LONG_MS = 10_000;

export function WaitingFelt({ text }: { text: string }) {
  const words = tableWords();
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    const waiting = setTimeout(() => setIsLong(true), LONG_MS);
    return () => clearTimeout(waiting);
  }, []);
  return (
    <div class="table-waiting" data-testid="entering">
      <span class="table-waiting-felt" aria-hidden="true" />
      <p role="status">{isLong ? words.slow : text}</p>
      {isLong && (
        <button type="button" class="button" onClick={() => location.reload()} data-testid="reload">
          {words.reload}
        </button>
      )}
    </div>
  );
}
