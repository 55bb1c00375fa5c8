// The board: every legal place of the table can be pointed at, clicked, touched and reached by keyboard.
import { useComputed } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { placeHeard } from "./bet_told";
import { isArrow, stepped } from "./board_arrows";
import { BoardCells } from "./board_cells";
import { boardPlaces, fitting, type Spot, spotAt } from "./board_places";
import { type Room, useRoom } from "./board_room";
import { chipRadius } from "./chips_placed";
import type { Felt } from "./felt";
import { FeltChips } from "./felt_chips";
import { words } from "./words";
import "./board.css";

export function Board({ felt }: { felt: Felt }) {
  const frame = useRef<HTMLDivElement>(null);
  const room = useRoom(frame);
  return (
    <div class="board" ref={frame} data-testid="board">
      {room && room.width > 0 && room.height > 0 && <BoardDrawn felt={felt} room={room} />}
    </div>
  );
}

// Lines at the border are drawn whole, and chips on the edge too.
const MARGIN = 6;

function BoardDrawn({ felt, room }: { felt: Felt; room: Room }) {
  const { measure, board } = useMemo(() => {
    const measure = fitting(room.width - 2 * MARGIN, room.height - 2 * MARGIN);
    return { measure, board: boardPlaces(felt.layout, measure) };
  }, [felt, room.width, room.height]);
  const svg = useRef<SVGSVGElement>(null);
  const pressed = useRef<string | null>(null);
  // What was used last: holding a finger down opens no menu and takes nothing back.
  const pointer = useRef("mouse");
  const bettable = felt.bettable.value;

  const under = (event: PointerEvent | MouseEvent): Spot | null => {
    const drawn = svg.current?.getBoundingClientRect();
    if (!drawn) return null;
    return spotAt(board, event.clientX - drawn.left - MARGIN, event.clientY - drawn.top - MARGIN, measure);
  };
  const point = (spot: Spot | null) => {
    felt.pointed.value = spot?.place ?? null;
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
      aria-label={words().board}
      aria-description={words().boardHint}
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
        if (meant && pressed.current !== null && event.button === 0) felt.put(spot.place);
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
        if (spot && pointer.current === "mouse") felt.slip.takeOff(spot.place);
      }}
      onKeyDown={(event) => {
        const here = board.bySpot.get((event.target as SVGElement).dataset["place"] ?? "");
        if (!here) return;
        if (isArrow(event.key)) focus(stepped(board.spots, here, event.key).place);
        else if (event.key === "Enter" || event.key === " ") felt.put(here.place);
        else if (event.key === "Delete") felt.slip.takeOff(here.place);
        else return;
        event.preventDefault();
      }}
    >
      <BoardCells felt={felt} board={board} measure={measure} />
      <FeltChips felt={felt} board={board} measure={measure} />
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

/** A place as a button: one of them at a time is where the tab key comes to. */
function SpotButton({ felt, spot, radius, first }: { felt: Felt; spot: Spot; radius: number; first: boolean }) {
  const { place, core } = spot;
  const onFelt = useComputed(() => felt.counting.value.get(place) ?? 0);
  const pending = useComputed(() => felt.slip.pending.value.get(place) ?? 0);
  const tabbed = useComputed(() => (felt.tabbed.value === null ? first : felt.tabbed.value === place));
  const [halfWidth, halfHeight] = [Math.max(core.width / 2, radius), Math.max(core.height / 2, radius)];
  return (
    // biome-ignore lint/a11y/useSemanticElements: HTML buttons cannot be drawn within a picture
    <rect
      class="spot"
      role="button"
      // In a picture the attribute is written small; the other is none.
      tabindex={tabbed.value ? 0 : -1}
      aria-label={placeHeard(felt, place, onFelt.value, pending.value, felt.table.mode.value)}
      aria-disabled={!felt.bettable.value}
      data-place={place}
      data-testid={`place-${place}`}
      x={spot.x - halfWidth}
      y={spot.y - halfHeight}
      width={2 * halfWidth}
      height={2 * halfHeight}
      rx={radius / 2}
      onFocus={() => {
        felt.tabbed.value = place;
        felt.pointed.value = place;
      }}
      onBlur={() => {
        if (felt.pointed.value === place) felt.pointed.value = null;
      }}
      // Assistive software clicks without a pointer.
      onClick={(event) => event.detail === 0 && felt.put(place)}
    />
  );
}
