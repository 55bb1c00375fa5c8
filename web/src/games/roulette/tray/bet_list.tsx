// Betting from a list: every place by its name, for players whom the board does not serve, and all the player's bets.
import { useSignal } from "@preact/signals";
import { Sheet } from "../../../design/overlays/sheet";
import { trayWords } from "../../../tray/words";
import { amount } from "../../../words/money";
import { describeBet } from "../felt/bet_description";
import type { Felt } from "../felt/felt";
import type { Place } from "../layout/messages";
import { kindName, placeName } from "../words/place_names";
import { rouletteWords } from "../words/table_words";
import "./bet_list.css";

export function BetList({ felt, onClose }: { felt: Felt; onClose: () => void }) {
  const words = rouletteWords();
  const mode = felt.table.mode.value;
  const chosen = useSignal(felt.layout.places[0]?.place ?? "");
  const description = describeBet(felt, chosen.value);
  const bets = [...felt.slip.allBets.value];
  const closed = !felt.bettable.value;
  return (
    <Sheet title={words.list} onClose={onClose} testId="bets-listed">
      <p class="quiet">{words.listHint}</p>
      <div class="field">
        <label for="listed-place">{words.place}</label>
        <select
          id="listed-place"
          value={chosen.value}
          onChange={(event) => {
            chosen.value = event.currentTarget.value;
          }}
        >
          {kindsOf(felt.layout.places).map(([kind, places]) => (
            <optgroup key={kind} label={kindName(kind)}>
              {places.map(({ place }) => (
                <option key={place} value={place}>
                  {placeName(place)}
                </option>
              ))}
            </optgroup>
          ))}
          {felt.layout.call_bets.length > 0 && (
            <optgroup label={words.racetrackLong}>
              {felt.layout.call_bets.map(({ place }) => (
                <option key={place} value={place}>
                  {placeName(place)}
                </option>
              ))}
            </optgroup>
          )}
        </select>
        <p class="quiet figures">
          {description && [description.numbers, ...description.terms].filter(Boolean).join(" · ")}
        </p>
      </div>
      <div class="row">
        <button
          type="button"
          class="button first"
          aria-disabled={closed}
          onClick={() => felt.placeChip(chosen.value)}
          data-testid="listed-put"
        >
          {words.put(amount(felt.cost(chosen.value), mode))}
        </button>
      </div>
      {closed && <p role="status">{trayWords().blocked.closed}</p>}
      {felt.notice.shown.value && <p role="alert">{felt.notice.shown.value.text}</p>}
      <h3>{words.yourBets}</h3>
      {bets.length === 0 ? (
        <p class="quiet">{words.none}</p>
      ) : (
        <ul class="listed-bets">
          {bets.map(([place, value]) => (
            <li key={place}>
              <span>{placeName(place)}</span>
              <span class="figures">{amount(value, mode)}</span>
              <button
                type="button"
                class="button icon"
                aria-label={`${placeName(place)}: ${words.takeOff}`}
                title={words.takeOff}
                aria-disabled={closed || felt.slip.undoBlocked.value !== null}
                onClick={() => felt.slip.takeBackFrom(place)}
              >
                −
              </button>
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  );
}

function kindsOf(places: readonly Place[]): [Place["kind"], Place[]][] {
  const kinds = new Map<Place["kind"], Place[]>();
  for (const place of places) kinds.set(place.kind, [...(kinds.get(place.kind) ?? []), place]);
  return [...kinds];
}
