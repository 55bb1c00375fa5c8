// When he was here before, as he has to be told: once, for as long as it takes to read it.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../design/icon";
import { moment, spanSaid } from "../words/moments";
import type { LiveTable } from "./live_table";
import { tableWords } from "./words";

const SHOWN_MS = 12_000;

export function PreviousSession({ table }: { table: LiveTable }) {
  const words = tableWords();
  const previous = table.previous.value;
  const [read, setRead] = useState<object | null>(null);
  useEffect(() => {
    if (!previous) return;
    const reading = setTimeout(() => setRead(previous), SHOWN_MS);
    // It is in the way of nothing that happens on the table.
    const unhear = table.onEvent(({ outcome_drawn }) => outcome_drawn && setRead(previous));
    return () => {
      clearTimeout(reading);
      unhear();
    };
  }, [table, previous]);
  if (!previous || read === previous) return null;
  const seconds = (Date.parse(previous.ended_at) - Date.parse(previous.started_at)) / 1000;
  return (
    <div class="inactivity previous-session" role="status" data-testid="previous-session">
      <p>
        <strong>{words.previously}</strong>
        <br />
        <span class="quiet figures">
          {words.previousFrom(moment(previous.started_at), Number.isNaN(seconds) ? "" : spanSaid(seconds))}
        </span>
      </p>
      <button type="button" class="button plain icon" onClick={() => setRead(previous)} aria-label={words.ok}>
        <Icon name="close" />
      </button>
    </div>
  );
}
