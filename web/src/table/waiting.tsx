// While a table is prepared: its bar, and a felt without anything on it.
import { useEffect, useState } from "preact/hooks";
import { TableBar } from "./table_bar";
import { Unread } from "./ways_on";
import { tableWords } from "./words";

interface Props {
  /** The tables could not be read: how to try again. */
  onAgain?: (() => void) | undefined;
}

export function Waiting({ onAgain }: Props) {
  return (
    <div class="table-page">
      <TableBar
        configuration={undefined}
        mode="MODE_DEMO"
        startedAt={undefined}
        held={false}
        seated={false}
        onLookup={() => undefined}
        onLeave={() => undefined}
      />
      <main id="main" tabIndex={-1}>
        {onAgain ? <Unread onAgain={onAgain} /> : <Skeleton text={tableWords().loading} />}
      </main>
    </div>
  );
}

// Longer than a slow line needs: something has not come and may not come by itself.
const LONG_MS = 10_000;

export function Skeleton({ text }: { text: string }) {
  const words = tableWords();
  const [long, tell] = useState(false);
  useEffect(() => {
    const waiting = setTimeout(() => tell(true), LONG_MS);
    return () => clearTimeout(waiting);
  }, []);
  return (
    <div class="table-waiting" data-testid="entering">
      <span class="table-waiting-felt" aria-hidden="true" />
      <p role="status">{long ? words.slow : text}</p>
      {long && (
        <button type="button" class="button" onClick={() => location.reload()} data-testid="reload">
          {words.reload}
        </button>
      )}
    </div>
  );
}
