// Betting from a list: every place by its name, for those whom the board does not serve, and all own bets in words.
import { useSignal } from "@preact/signals";
import { Sheet } from "../../design/sheet";
import { amount } from "../../words/money";
import { betTold } from "./bet_told";
import type { Place } from "./bets";
import type { Felt } from "./felt";
import { kindName, placeName } from "./place_words";
import { words } from "./words";
import "./bets_listed.css";

export function BetsListed({ felt, onClose }: { felt: Felt; onClose: () => void }) {
  const say = words();
  const mode = felt.table.mode.value;
  const chosen = useSignal(felt.layout.places[0]?.place ?? "");
  const told = betTold(felt, chosen.value);
  const lying = [...felt.slip.everything.value];
  const shut = !felt.bettable.value;
  return (
    <Sheet title={say.list} onClose={onClose} testId="bets-listed">
      <p class="quiet">{say.listHint}</p>
      <div class="field">
        <label for="listed-place">{say.place}</label>
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
            <optgroup label={say.racetrackLong}>
              {felt.layout.call_bets.map(({ place }) => (
                <option key={place} value={place}>
                  {placeName(place)}
                </option>
              ))}
            </optgroup>
          )}
        </select>
        <p class="quiet figures">{told && [told.numbers, ...told.terms].filter(Boolean).join(" · ")}</p>
      </div>
      <div class="row">
        <button
          type="button"
          class="button first"
          aria-disabled={shut}
          onClick={() => felt.put(chosen.value)}
          data-testid="listed-put"
        >
          {say.put(amount(felt.cost(chosen.value), mode))}
        </button>
      </div>
      {shut && <p role="status">{say.bars.closed}</p>}
      {felt.notice.shown.value && <p role="alert">{felt.notice.shown.value.text}</p>}
      <h3>{say.lying}</h3>
      {lying.length === 0 ? (
        <p class="quiet">{say.none}</p>
      ) : (
        <ul class="listed-bets">
          {lying.map(([place, value]) => (
            <li key={place}>
              <span>{placeName(place)}</span>
              <span class="figures">{amount(value, mode)}</span>
              <button
                type="button"
                class="button icon"
                aria-label={`${placeName(place)}: ${say.takeOff}`}
                title={say.takeOff}
                aria-disabled={shut || felt.slip.undoBar.value !== null}
                onClick={() => felt.slip.takeOff(place)}
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
