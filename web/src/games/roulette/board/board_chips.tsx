// What lies on the board: the player's chips, pending chips, other players' marks, and the marker of the drawn number.
import { useComputed } from "@preact/signals";
import { ChipFace } from "../../../chips/chip_face";
import { chipStack } from "../../../chips/chips";
import type { Cents } from "../../../words/money";
import type { Felt } from "../felt/felt";
import { type BoardGeometry, type Cell, isBox, type Spot } from "./board_geometry";
import { chipRadius, prizePosition } from "./chip_positions";
import type { Measure, Point } from "./measure";
import "./board_chips.css";

interface Props {
  felt: Felt;
  board: BoardGeometry;
  measure: Measure;
}

// The most chips that a pile shows; its amount is written on the top one.
const HIGHEST_PILE = 5;

export function BoardChips({ felt, board, measure }: Props) {
  const radius = chipRadius(measure);
  const dealer =
    measure.shape === "wide" ? { x: -radius * 2, y: board.height * 0.3 } : { x: board.width / 2, y: -radius * 2 };
  const player = { x: board.width / 2, y: board.height + radius * 2 };
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing within can have the focus
    <g class="felt-chips" aria-hidden="true">
      <OthersMarks felt={felt} board={board} radius={radius} />
      <OwnChips {...{ felt, board, radius, dealer, player }} />
      <PendingChips felt={felt} board={board} radius={radius} />
      <AimedChips felt={felt} board={board} radius={radius} />
      <Marker felt={felt} board={board} radius={radius} />
    </g>
  );
}

interface Layer {
  felt: Felt;
  board: BoardGeometry;
  radius: number;
}

function OwnChips({ felt, board, radius, dealer, player }: Layer & { dealer: Point; player: Point }) {
  const stage = felt.sequence.stage.value;
  const swept = felt.sequence.swept.value;
  const over = stage === "collected" || stage === "paid";
  const settled = felt.sequence.result.value?.settled ?? false;
  return (
    <g data-testid="own-chips">
      {[...felt.shownBets.value].map(([place, value]) => {
        const spot = board.spotOf.get(place);
        if (!spot) return null;
        const won = felt.sequence.wins(place);
        const prize = (value * (felt.places.get(place)?.prize_halves ?? 0)) / 2;
        const box = isBox(place) ? board.cells.get(place) : undefined;
        const paid = prizePosition(spot, box, board.width, radius);
        const lost = over && settled && !won;
        const gone = lost || swept;
        const at = lost ? dealer : swept ? player : spot;
        return (
          <g key={place}>
            <g class={gone ? "pile gone" : "pile"} style={moved(at)} data-own={place} data-cents={value}>
              <Pile felt={felt} value={value} radius={radius} />
            </g>
            {stage === "paid" && settled && won && (
              <g
                class={swept ? "pile prize gone" : "pile prize"}
                data-prize={place}
                data-cents={prize}
                style={{
                  ...moved(swept ? player : paid),
                  "--from-x": `${dealer.x}px`,
                  "--from-y": `${dealer.y}px`,
                }}
              >
                <Pile felt={felt} value={prize} radius={radius} />
              </g>
            )}
          </g>
        );
      })}
    </g>
  );
}

function PendingChips({ felt, board, radius }: Layer) {
  return (
    <g data-testid="pending-chips">
      {[...felt.slip.pending.value].map(([place, value]) => {
        const spot = board.spotOf.get(place);
        // On top of the accepted chips.
        const lift = felt.shownBets.value.has(place) ? radius * 0.45 : 0;
        return (
          spot && (
            <g
              key={place}
              class="pile pending"
              style={moved({ x: spot.x, y: spot.y - lift })}
              data-pending={place}
              data-cents={value}
            >
              <Pile felt={felt} value={value} radius={radius} />
            </g>
          )
        );
      })}
    </g>
  );
}

/** What a click would place, where nothing lies yet and the bet would be accepted. */
function AimedChips({ felt, board, radius }: Layer) {
  const aimed = felt.aimedBets.value;
  if (aimed.size === 0 || felt.slip.refusalFor(aimed)) return null;
  const allBets = felt.slip.allBets.value;
  return (
    <g data-testid="aimed-chips">
      {[...aimed].map(([place, value]) => {
        const spot = allBets.has(place) ? undefined : board.spotOf.get(place);
        return (
          spot && (
            <g key={place} class="aimed" style={moved(spot)}>
              <ChipFace value={value} colour={chipStack(value, felt.chips)[0]?.colour ?? 0} radius={radius} />
            </g>
          )
        );
      })}
    </g>
  );
}

function Pile({ felt, value, radius }: { felt: Felt; value: Cents; radius: number }) {
  const chips = chipStack(value, felt.chips);
  const [top, ...below] = chips;
  const under = below.slice(0, HIGHEST_PILE - 1).reverse();
  const step = radius * 0.2;
  return (
    <g class="pile-drop">
      <ellipse class="pile-shadow" cx={radius * 0.12} cy={radius * 0.22} rx={radius * 1.06} ry={radius * 1.02} />
      {under.map((chip, index) => (
        <g key={index} class={`chip chip-${chip.colour}`} style={{ transform: `translateY(${-index * step}px)` }}>
          <circle class="chip-body" r={radius} />
          <circle class="chip-rim" r={radius} stroke-width={0.8} />
        </g>
      ))}
      <g style={{ transform: `translateY(${-under.length * step}px)` }}>
        <ChipFace value={value} colour={top?.colour ?? 0} radius={radius} />
      </g>
    </g>
  );
}

function OthersMarks({ felt, board, radius }: Layer) {
  const over = felt.sequence.stage.value === "collected" || felt.sequence.stage.value === "paid";
  return (
    <g class="others" data-testid="others">
      {[...felt.otherBets.marks.value].map(([place, mark]) => {
        const spot = board.spotOf.get(place);
        const cell = spot?.kind === "KIND_STRAIGHT" ? board.cells.get(place) : undefined;
        const lost = over && !felt.sequence.wins(place);
        return spot && <OthersMark key={place} {...{ felt, spot, cell, radius, lost }} players={mark.players} />;
      })}
    </g>
  );
}

interface OthersMarkProps {
  felt: Felt;
  spot: Spot;
  cell: Cell | undefined;
  radius: number;
  players: number;
  lost: boolean;
}

/** On the place itself; in the corner of a number, which stays readable; aside of the player's own chips. */
function OthersMark({ felt, spot, cell, radius, players, lost }: OthersMarkProps) {
  const size = radius * 0.52;
  const covered = useComputed(
    () => felt.slip.allBets.value.has(spot.place) || felt.shownBets.value.has(spot.place),
  ).value;
  const aside = covered ? radius * 0.85 : 0;
  const at = cell
    ? { x: cell.x + cell.width - size * 1.25, y: cell.y + size * 1.25 }
    : { x: spot.x + aside, y: spot.y - aside };
  return (
    <g class={lost ? "other lost" : "other"} style={moved(at)} data-other={spot.place} data-players={players}>
      <circle r={size} stroke-width={size * 0.22} />
      <text font-size={size * (players > 99 ? 0.85 : 1.15)} dy="0.36em">
        {players}
      </text>
    </g>
  );
}

function Marker({ felt, board, radius }: Layer) {
  const number = useComputed(() => felt.sequence.marked.value).value;
  const cell = number === null ? undefined : board.cells.get(number);
  if (!cell || number === null) return null;
  const [x, y] = [cell.x + cell.width / 2, cell.y + cell.height / 2];
  const ring = Math.min(cell.width, cell.height) * 0.43;
  return (
    <g data-testid="marker" data-number={number}>
      <rect
        class="marker-cell"
        x={cell.x + 1.5}
        y={cell.y + 1.5}
        width={cell.width - 3}
        height={cell.height - 3}
        rx={4}
      />
      <g class="marker" style={moved({ x, y })}>
        <circle class="marker-ring" r={ring} stroke-width={radius * 0.2} />
        <g transform={`translate(${ring * 0.8} ${-ring * 0.7}) scale(${radius / 11})`}>
          <ellipse class="marker-shadow" cx="1" cy="6" rx="6" ry="2.6" />
          <path
            class="marker-pawn"
            d="M-5.5 5.500C-5 1-2-1-1.800-4a3.200 3.200 0 1 1 3.600 0C2-1 5 1 5.500 5.500a8 2.600 0 0 1-11 0z"
          />
        </g>
      </g>
    </g>
  );
}

function moved({ x, y }: { x: number; y: number }) {
  return { transform: `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)` };
}
