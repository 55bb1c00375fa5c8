// The board: every legal place can be pointed at, clicked, touched and reached by keyboard.
import { useComputed } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { type Size, useElementSize } from "../../../browser/element_size";
import { placeLabel } from "../felt/bet_description";
import type { Felt } from "../felt/felt";
import { rouletteWords } from "../words/table_words";
import { isArrowKey, nextSpot } from "./arrow_keys";
import { BoardCells } from "./board_cells";
import { BoardChips } from "./board_chips";
import { boardGeometry, type Spot, spotAt } from "./board_geometry";
import { chipRadius } from "./chip_positions";
import { fittingMeasure } from "./measure";
import "./board.css";

export function Board({ felt }: { felt: Felt }) {
  const frame = useRef<HTMLDivElement>(null);
  const room = useElementSize(frame);
  return (
    <div class="board" ref={frame} data-testid="board">
      {room && room.width > 0 && room.height > 0 && <BoardDrawing felt={felt} room={room} />}
    </div>
  );
}

// Room for lines and chips at the edge.
const MARGIN = 6;

function BoardDrawing({ felt, room }: { felt: Felt; room: Size }) {
  const { measure, board } = useMemo(() => {
    const measure = fittingMeasure(room.width - 2 * MARGIN, room.height - 2 * MARGIN);
    return { measure, board: boardGeometry(felt.layout, measure) };
  }, [felt, room.width, room.height]);
  const svg = useRef<SVGSVGElement>(null);
  const pressed = useRef<string | null>(null);
  // The pointer used last: a long touch opens no menu and takes nothing back.
  const pointer = useRef("mouse");
  const bettable = felt.bettable.value;

  const under = (event: PointerEvent | MouseEvent): Spot | null => {
    const drawn = svg.current?.getBoundingClientRect();
    if (!drawn) return null;
    return spotAt(board, event.clientX - drawn.left - MARGIN, event.clientY - drawn.top - MARGIN, measure);
  };
  const point = (spot: Spot | null) => {
    felt.pointedPlace.value = spot?.place ?? null;
  };
  const focus = (place: string) => svg.current?.querySelector<SVGElement>(`[data-place="${place}"]`)?.focus();

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be drawn; the places within are the buttons
    <svg
      ref={svg}
      class={bettable ? `board-drawn ${measure.shape}` : `board-drawn ${measure.shape} shut`}
      width={board.width + 2 * MARGIN}
      height={board.height + 2 * MARGIN}
      viewBox={`${-MARGIN} ${-MARGIN} ${board.width + 2 * MARGIN} ${board.height + 2 * MARGIN}`}
      role="group"
      aria-label={rouletteWords().board}
      aria-description={rouletteWords().boardHint}
      onPointerDown={(event) => {
        pointer.current = event.pointerType;
        if (event.button !== 0) return;
        const spot = under(event);
        pressed.current = spot?.place ?? null;
        point(spot);
        if (event.pointerType !== "mouse") svg.current?.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => point(under(event))}
      onPointerUp={(event) => {
        const spot = under(event);
        // A finger may slide until it is right; a mouse clicks where it was pressed.
        const meant = spot && (event.pointerType !== "mouse" || spot.place === pressed.current);
        if (meant && pressed.current !== null && event.button === 0) felt.placeChip(spot.place);
        pressed.current = null;
        if (event.pointerType !== "mouse") point(null);
      }}
      onPointerCancel={() => {
        pressed.current = null;
        point(null);
      }}
      onPointerLeave={() => point(null)}
      onContextMenu={(event) => {
        event.preventDefault();
        const spot = under(event);
        if (spot && pointer.current === "mouse") felt.slip.takeBackFrom(spot.place);
      }}
      onKeyDown={(event) => {
        const here = board.spotOf.get((event.target as SVGElement).dataset["place"] ?? "");
        if (!here) return;
        if (isArrowKey(event.key)) focus(nextSpot(board.spots, here, event.key).place);
        else if (event.key === "Enter" || event.key === " ") felt.placeChip(here.place);
        else if (event.key === "Delete") felt.slip.takeBackFrom(here.place);
        else return;
        event.preventDefault();
      }}
    >
      <BoardCells felt={felt} board={board} measure={measure} />
      <BoardChips felt={felt} board={board} measure={measure} />
      <Spots felt={felt} spots={board.spots} radius={Math.max(12, chipRadius(measure))} />
    </svg>
  );
}

function Spots({ felt, spots, radius }: { felt: Felt; spots: readonly Spot[]; radius: number }) {
  return (
    <g class="spots">
      {spots.map((spot, index) => (
        <SpotButton key={spot.place} felt={felt} spot={spot} radius={radius} first={index === 0} />
      ))}
    </g>
  );
}

/** A place as a button; one of them at a time is the tab stop. */
function SpotButton({ felt, spot, radius, first }: { felt: Felt; spot: Spot; radius: number; first: boolean }) {
  const { place, core } = spot;
  const onFelt = useComputed(() => felt.countedBets.value.get(place) ?? 0);
  const pending = useComputed(() => felt.slip.pending.value.get(place) ?? 0);
  const tabbed = useComputed(() => (felt.tabStop.value === null ? first : felt.tabStop.value === place));
  const [halfWidth, halfHeight] = [Math.max(core.width / 2, radius), Math.max(core.height / 2, radius)];
  return (
    // biome-ignore lint/a11y/useSemanticElements: HTML buttons cannot be drawn within a picture
    <rect
      class="spot"
      role="button"
      // SVG elements know the attribute in lower case only.
      tabindex={tabbed.value ? 0 : -1}
      aria-label={placeLabel(felt, place, onFelt.value, pending.value, felt.table.mode.value)}
      aria-disabled={!felt.bettable.value}
      data-place={place}
      data-testid={`place-${place}`}
      x={spot.x - halfWidth}
      y={spot.y - halfHeight}
      width={2 * halfWidth}
      height={2 * halfHeight}
      rx={radius / 2}
      onFocus={() => {
        felt.tabStop.value = place;
        felt.pointedPlace.value = place;
      }}
      onBlur={() => {
        if (felt.pointedPlace.value === place) felt.pointedPlace.value = null;
      }}
      // Assistive software clicks without a pointer.
      onClick={(event) => event.detail === 0 && felt.placeChip(place)}
    />
  );
}
