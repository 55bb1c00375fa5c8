// When he was here before, as he has to be told: once, for as long as it takes to read it, or until he plays.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../design/icon";
import { moment, spanSaid } from "../words/moments";
import type { LiveTable } from "./live_table";
import { tableWords } from "./words";

const SHOWN_MS = 12_000;
// However soon he plays, it can be read.
const LEAST_MS = 3000;

export function PreviousSession({ table }: { table: LiveTable }) {
  const words = tableWords();
  const previous = table.previous.value;
  const [read, setRead] = useState<object | null>(null);
  useEffect(() => {
    if (!previous) return;
    const since_ms = performance.now();
    let reading = setTimeout(() => setRead(previous), SHOWN_MS);
    // It is in the way of nothing that he does, nor of what happens on the table.
    const plays = () => {
      clearTimeout(reading);
      reading = setTimeout(() => setRead(previous), Math.max(0, LEAST_MS - (performance.now() - since_ms)));
    };
    const unhear = table.onEvent(({ outcome_drawn, bets_placed }) => {
      if (outcome_drawn) setRead(previous);
      else if (bets_placed && bets_placed.seat === table.own.value?.seat) plays();
    });
    const pressed = ({ target }: Event) => {
      if (target instanceof Element && target.closest("main") && !target.closest(".table-notices")) plays();
    };
    addEventListener("pointerdown", pressed, { passive: true });
    return () => {
      clearTimeout(reading);
      unhear();
      removeEventListener("pointerdown", pressed);
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
