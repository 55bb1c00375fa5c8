// The places of the table along its edge, each with a space for bets on tie, banca and ponto (812/2015:6.a).

import type { PlacedBets } from "../../../bets/bets";
import { ChipFace } from "../../../chips/chip_face";
import type { Chip } from "../../../chips/chips";
import type { Felt } from "../felt/felt";
import { chanceName } from "../words/chances";
import { winnerLetter } from "../words/outcomes";
import { baccaratWords } from "../words/table_words";
import { betsOnPlace } from "./other_bets";
import "./places.css";

const WIDTH = 100;
const HEIGHT = 92;
// How much lower the middle of the arc lies than its ends.
const SAG = 26;
const CELLS = [
  { place: "tie", winner: "WINNER_TIE", y: 0, height: 24 },
  { place: "banca", winner: "WINNER_BANCA", y: 24, height: 24 },
  { place: "ponto", winner: "WINNER_PONTO", y: 48, height: 24 },
] as const;

export function Places({ felt }: { felt: Felt }) {
  const words = baccaratWords();
  const count = Math.max(1, felt.layout.rules?.places ?? 1);
  const own = felt.table.ownSeat.value?.seat;
  const seats = felt.table.snapshot.value?.bets ?? [];
  return (
    <svg
      class="places"
      viewBox={`-10 -6 ${count * WIDTH + 20} ${HEIGHT + SAG + 12}`}
      role="img"
      aria-label={own ? `${words.places}: ${count}. ${words.ownPlace(own)}` : `${words.places}: ${count}`}
      data-testid="places"
      data-count={count}
    >
      {Array.from({ length: count }, (_, index) => {
        const number = index + 1;
        const bets = number === own ? felt.shownBets.value : betsOnPlace(seats, number);
        return (
          <OnePlace key={number} number={number} count={count} own={number === own} bets={bets} chips={felt.chips} />
        );
      })}
    </svg>
  );
}

interface Props {
  number: number;
  count: number;
  own: boolean;
  bets: PlacedBets;
  chips: readonly Chip[];
}

function OnePlace({ number, count, own, bets, chips }: Props) {
  // -1 at the left end of the arc, 1 at the right.
  const along = count === 1 ? 0 : (2 * (number - 1)) / (count - 1) - 1;
  const x = (number - 0.5) * WIDTH;
  const y = SAG * (1 - along * along);
  return (
    <g
      class={own ? "edge-place edge-place-own" : "edge-place"}
      transform={`translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${(-along * 7).toFixed(1)})`}
      data-place={number}
    >
      <rect class="edge-place-ground" x={-WIDTH / 2 + 5} y="0" width={WIDTH - 10} height="72" rx="8" />
      {CELLS.map(({ place, winner, y: top, height }) => {
        const value = bets.get(place) ?? 0;
        return (
          <g key={place} class={`edge-place-cell edge-place-${place}`}>
            {top > 0 && <path d={`M${-WIDTH / 2 + 5} ${top}H${WIDTH / 2 - 5}`} />}
            <text x={-WIDTH / 2 + 22} y={top + height / 2} dy="0.36em">
              {winnerLetter(winner)}
            </text>
            <title>{chanceName(place)}</title>
            {value > 0 && (
              <g transform={`translate(14 ${top + height / 2})`}>
                <ChipFace value={value} colour={rank(value, chips)} radius={11.5} />
              </g>
            )}
          </g>
        );
      })}
      <text class="edge-place-number" y="89">
        {number}
      </text>
    </g>
  );
}

/** The colour of the largest chip within the amount. */
function rank(value: number, chips: readonly Chip[]): number {
  return chips.findLast((chip) => chip.value <= value)?.colour ?? 0;
}
