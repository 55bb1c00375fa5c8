// The waiting list of a full table: joining it, the place on it, the seat that is kept, and leaving it.
import { useEffect, useState } from "preact/hooks";
import { call, enterAsGuest, identity, onOwnView, onResync } from "../../../api/platform";
import { useServerNow } from "../../../design/use_clock";
import type { LiveTable } from "../../../table/live/live_table";
import { secondsUntil } from "../cave/fill_countdown";
import { caveWords } from "../cave/words";
import { WaitingPlace } from "./waiting_place";
import "./waiting_list.css";

/** Shown where a player chooses a seat and none is free, or one is kept for them. */
export function WaitingList({ table }: { table: LiveTable }) {
  const words = caveWords().list;
  const snapshot = table.seatChoice.table.value;
  const mode = snapshot?.configuration?.mode ?? "MODE_REAL";
  const [waiting] = useState(() => new WaitingPlace(table.listedId, mode, { call, onOwnView, onResync }));
  useEffect(() => waiting.follow(), [waiting]);
  const place = waiting.place.value;
  const free = snapshot?.seats.some(({ taken }) => !taken) ?? false;
  const lost = waiting.lost.value;
  if (!place && !lost && free) return null;
  const join = async () => {
    if (identity.value.kind === "nobody" && mode === "MODE_DEMO") {
      await enterAsGuest();
      // A guest who has just come has a new connection, on which the table has to be followed anew.
      table.join();
    }
    await waiting.join();
  };
  return (
    <section class="waiting-list" data-testid="waiting-list" data-position={place?.position}>
      <p role="status">
        {place ? (place.seat ? words.kept(place.seat) : words.position(place.position)) : lost ? words.lost : ""}
      </p>
      {place?.seat ? (
        <>
          <KeptFor until={place.kept_until} />
          <button
            type="button"
            class="button first"
            onClick={() => void table.take(place.seat)}
            data-testid="take-kept-seat"
          >
            {words.take(place.seat)}
          </button>
        </>
      ) : (
        !place &&
        !free && (
          <>
            <p class="quiet">
              {words.hint} {(snapshot?.waiting ?? 0) > 0 && words.waiting(snapshot?.waiting ?? 0)}
            </p>
            <button
              type="button"
              class="button first"
              aria-disabled={waiting.busy.value}
              onClick={() => void join()}
              data-testid="join-waiting-list"
            >
              {words.join}
            </button>
          </>
        )
      )}
      {place && (
        <button
          type="button"
          class="button"
          aria-disabled={waiting.busy.value}
          onClick={() => void waiting.leave()}
          data-testid="leave-waiting-list"
        >
          {words.leave}
        </button>
      )}
      <p role="alert" class="waiting-list-refused">
        {waiting.refused.value}
      </p>
    </section>
  );
}

/** How long a seat is kept, where that is known. */
function KeptFor({ until }: { until: string | undefined }) {
  const words = caveWords().list;
  const now = useServerNow(until ? 250 : 0);
  if (!until) return <p class="quiet">{words.keptHint}</p>;
  const seconds = secondsUntil(until, now);
  return (
    <p class="quiet" role="timer" data-testid="kept-for" data-seconds={seconds}>
      {words.keptFor(seconds)}
    </p>
  );
}
