// The player's previous session at this table, shown for as long as it takes to read, or until the player plays.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../../design/icon";
import { dictionary } from "../../words/language";
import { dateTime, durationInWords } from "../../words/times";
import type { LiveTable } from "../live/live_table";

const previousSessionWords = dictionary(
  {
    previously: "A sua última sessão",
    previousFrom: (from: string, length: string) => `${from}${length && `, durante ${length}`}`,
    ok: "Está bem",
  },
  {
    previously: "Your last session",
    previousFrom: (from: string, length: string) => `${from}${length && `, for ${length}`}`,
    ok: "All right",
  },
);

const SHOWN_MS = 12_000;
// Long enough to be read, however soon the player plays.
const LEAST_MS = 3000;

export function PreviousSession({ table }: { table: LiveTable }) {
  const words = previousSessionWords();
  const previous = table.previousSession.value;
  const [read, setRead] = useState<object | null>(null);
  useEffect(() => {
    if (!previous) return;
    const since_ms = performance.now();
    let reading = setTimeout(() => setRead(previous), SHOWN_MS);
    // It hides when the player acts on the table, or when a result is shown.
    const plays = () => {
      clearTimeout(reading);
      reading = setTimeout(() => setRead(previous), Math.max(0, LEAST_MS - (performance.now() - since_ms)));
    };
    const unhear = table.onEvent(({ outcome_drawn, bets_placed }) => {
      if (outcome_drawn) setRead(previous);
      else if (bets_placed && bets_placed.seat === table.ownSeat.value?.seat) plays();
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
          {words.previousFrom(dateTime(previous.started_at), Number.isNaN(seconds) ? "" : durationInWords(seconds))}
        </span>
      </p>
      <button type="button" class="button plain icon" onClick={() => setRead(previous)} aria-label={words.ok}>
        <Icon name="close" />
      </button>
    </div>
  );
}
