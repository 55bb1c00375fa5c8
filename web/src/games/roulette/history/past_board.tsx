// A small board with a player's bets in a past round, and the drawn number.

import type { Mode } from "../../../api/messages";
import { ChipFace } from "../../../chips/chip_face";
import { type Chip, chipSet } from "../../../chips/chips";
import { amount } from "../../../words/money";
import { boardGeometry, type Cell } from "../board/board_geometry";
import type { Measure } from "../board/measure";
import type { Pocket } from "../layout/messages";
import { placeKind, placeNumbers } from "../layout/places";
import { colourClass } from "../words/outcomes";
import { placeName } from "../words/place_names";
import { rouletteWords } from "../words/table_words";
import type { PastBet } from "./past_bets";
import "./past_round.css";

const MEASURE: Measure = { shape: "wide", along: 44, across: 46, band: 30, zero: 44, column: 56 };
const CHIP_RADIUS = 11;
// The ring around a winning chip lies within the box too.
const RING = 3;
const RING_WIDTH = 3;
const BOXES = [
  ...["dozen-1", "dozen-2", "dozen-3", "column-1", "column-2", "column-3"],
  ...["low", "even", "red", "black", "odd", "high"],
];

interface Props {
  pockets: readonly Pocket[];
  bets: readonly PastBet[];
  drawn: string;
  mode: Mode;
}

export function PastBoard({ pockets, bets, drawn, mode }: Props) {
  const named = [...pockets.map(({ number }) => number), ...BOXES, ...bets.map(({ place }) => place)];
  const places = [...new Set(named)].flatMap((place) => {
    const kind = placeKind(place);
    // The picture needs no limits and prizes.
    const unasked = { minimum_cents: "0", maximum_cents: "0", prize_halves: 0, even_cents_only: false };
    return kind ? [{ place, kind, numbers: [...placeNumbers(place)], ...unasked }] : [];
  });
  const board = boardGeometry({ places }, MEASURE, CHIP_RADIUS + RING + RING_WIDTH / 2);
  const smallest = Math.min(...bets.map(({ staked }) => staked));
  const chips = chipSet(smallest, Number.POSITIVE_INFINITY);
  return (
    <svg class="told-board" viewBox={`-6 -6 ${board.width + 12} ${board.height + 12}`} aria-hidden="true">
      <rect class="told-felt" x="-6" y="-6" width={board.width + 12} height={board.height + 12} rx="8" />
      {[...board.cells.values()].map((cell) => (
        <PastCell key={cell.place} cell={cell} drawn={cell.place === drawn} />
      ))}
      {bets.map((bet) => {
        const spot = board.spotOf.get(bet.place);
        if (!spot) return null;
        return (
          <g
            key={bet.place}
            class={bet.payout === 0 ? "told-chip told-chip-lost" : "told-chip"}
            transform={`translate(${spot.x.toFixed(1)} ${spot.y.toFixed(1)})`}
          >
            <title>{`${placeName(bet.place)}: ${amount(bet.staked, mode)}`}</title>
            {bet.payout !== null && bet.payout > 0 && (
              <circle class="told-chip-won" r={CHIP_RADIUS + RING} stroke-width={RING_WIDTH} />
            )}
            <ChipFace value={bet.staked} colour={rank(bet.staked, chips)} radius={CHIP_RADIUS} />
          </g>
        );
      })}
    </svg>
  );
}

function PastCell({ cell, drawn }: { cell: Cell; drawn: boolean }) {
  const { place, x, y, width, height } = cell;
  const number = /^\d+$/.test(place);
  const [middleX, middleY] = [x + width / 2, y + height / 2];
  return (
    <g class={`told-cell ${number ? colourClass(place) : ""}`}>
      <rect x={x} y={y} width={width} height={height} />
      {place === "red" || place === "black" ? (
        <path class={`told-diamond is-${place}`} d={`M${middleX - 36} ${middleY}l22 -9l22 9l-22 9Z`} />
      ) : (
        <text class={textClass(place)} x={middleX + aside(place)} y={middleY} dy="0.36em">
          {number ? place : boxWord(place)}
        </text>
      )}
      {drawn && <rect class="told-drawn" x={x + 2} y={y + 2} width={width - 4} height={height - 4} rx="5" />}
    </g>
  );
}

function textClass(place: string): string {
  if (/^\d+$/.test(place)) return "told-number";
  return place.startsWith("column-") ? "told-word told-word-small" : "told-word";
}

/** Words leave room at the right for a chip; dozens have enough of it. */
function aside(place: string): number {
  if (/^\d+$/.test(place) || place.startsWith("dozen-")) return 0;
  return -15;
}

function boxWord(place: string): string {
  const words = rouletteWords();
  if (place.startsWith("dozen-")) return words.dozens[Number(place.slice(-1)) - 1] ?? "";
  if (place.startsWith("column-")) return "2:1";
  if (place === "low") return "1–18";
  if (place === "high") return "19–36";
  return place === "even" ? words.even : words.odd;
}

/** The colour of the largest chip within the amount. */
function rank(staked: number, chips: readonly Chip[]): number {
  return chips.findLast(({ value }) => value <= staked)?.colour ?? 0;
}
