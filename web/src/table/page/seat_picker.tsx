// The seats of a table, for a player who has to choose one: they lie around the table as on its cloth, from left to right.
import { useLayoutEffect, useRef } from "preact/hooks";
import type { TableSeat, TableSummary } from "../../api/messages";
import { loadedGame } from "../../game_interface/registered_games";
import { SimilarTables } from "../../tables/similar_tables";
import type { LiveTable } from "../live/live_table";
import { tableWords } from "./words";
import "./seat_picker.css";

interface Props {
  table: LiveTable;
  listed: TableSummary;
}

// More seats than that have no room around a table on a phone.
const AROUND = 10;

export function SeatPicker({ table, listed }: Props) {
  const words = tableWords();
  const { taking, lost } = table.seatChoice;
  const seats = table.seatChoice.seats.value;
  const free = seats.filter(({ taken }) => !taken).length;
  const around = seats.length <= AROUND;
  const game = loadedGame(listed.configuration?.game);
  const picker = useRef<HTMLElement>(null);
  useLayoutEffect(() => () => keepFocus(picker.current), []);
  const take = (seat: number) => {
    if (taking.value === null) void table.take(seat);
  };
  return (
    <section ref={picker} class="seat-picker" aria-labelledby="seat-picker-title" data-testid="seat-picker">
      <div class="seat-picker-words">
        <h2 id="seat-picker-title">{words.chooseSeat}</h2>
        <p class="quiet">{words.chooseSeatText}</p>
        <p class="seat-picker-lost" role="alert">
          {lost.value !== null && lost.value > 0 && words.seatLost(lost.value)}
        </p>
      </div>
      <div class={around ? "seat-picker-table" : "seat-picker-rows"}>
        <ul class="seat-picker-seats">
          {seats.map((seat, index) => (
            <li key={seat.seat} style={around ? placeAround(index, seats.length) : undefined}>
              <SeatButton seat={seat} pending={taking.value === seat.seat} onTake={take} />
            </li>
          ))}
        </ul>
        <div class="seat-picker-middle">
          <p role="status">{free === 0 ? words.noSeatFree : words.seatsFree(free, seats.length)}</p>
          {free === 0 ? (
            <p class="quiet">{words.noSeatFreeText}</p>
          ) : (
            <button
              type="button"
              class="button first"
              aria-disabled={taking.value !== null}
              onClick={() => take(0)}
              data-testid="any-seat"
            >
              {words.anySeat}
            </button>
          )}
        </div>
      </div>
      {game?.WaitingList && <game.WaitingList table={table} />}
      {free === 0 && <SimilarTables listed={listed} />}
    </section>
  );
}

interface SeatButtonProps {
  seat: TableSeat;
  pending: boolean;
  onTake: (seat: number) => void;
}

/** A seat that another player takes keeps its button, and so the focus that may lie on it. */
function SeatButton({ seat, pending, onTake }: SeatButtonProps) {
  const words = tableWords();
  return (
    <button
      type="button"
      class="seat-picker-seat"
      aria-disabled={seat.taken}
      aria-busy={pending}
      onClick={() => !seat.taken && onTake(seat.seat)}
      data-testid={`seat-${seat.seat}`}
    >
      <span class="unseen">{words.seat} </span>
      <span class="seat-picker-number figures">{seat.seat} </span>
      <span class="seat-picker-state">{seat.taken ? words.seatTaken : words.seatFree}</span>
    </button>
  );
}

// How much of the oval the seats take; the dealer's side is free.
const ARC_DEGREES = 280;

/** Where a seat lies on the oval, the first on the left of the dealer's side. */
function placeAround(index: number, seats: number): { left: string; top: string } {
  const degrees = 90 + ARC_DEGREES * (0.5 - (index + 0.5) / seats);
  const radians = (degrees * Math.PI) / 180;
  return { left: `${50 + 50 * Math.cos(radians)}%`, top: `${50 + 50 * Math.sin(radians)}%` };
}

/** What the player does next is on the table's page, which the picker makes room for. */
function keepFocus(picker: HTMLElement | null): void {
  if (picker?.contains(document.activeElement)) document.getElementById("main")?.focus({ preventScroll: true });
}
