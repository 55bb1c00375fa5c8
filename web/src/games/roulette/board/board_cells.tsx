// The cloth: numbers, boxes and lines, and which of them are lit.
import { useComputed } from "@preact/signals";
import type { Felt } from "../felt/felt";
import { colourOf } from "../layout/pockets";
import type { BoardGeometry, Cell } from "./board_geometry";
import { BoxLabel } from "./box_labels";
import type { Measure } from "./measure";

interface Props {
  felt: Felt;
  board: BoardGeometry;
  measure: Measure;
}

export function BoardCells({ felt, board, measure }: Props) {
  const french = felt.layout.wheel === "WHEEL_FRENCH";
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing within can have the focus
    <g class="cells" aria-hidden="true">
      {[...board.cells.values()].map((cell) => (
        <CellDrawing key={cell.place} felt={felt} cell={cell} measure={measure} french={french} />
      ))}
    </g>
  );
}

interface CellProps {
  felt: Felt;
  cell: Cell;
  measure: Measure;
  french: boolean;
}

function CellDrawing({ felt, cell, measure, french }: CellProps) {
  const { place } = cell;
  const lit = useComputed(() => felt.litNumbers.value.has(place) || felt.litPlaces.value.has(place));
  const isNumber = /^\d+$/.test(place);
  const zero = place === "0" || place === "00";
  const tint = zero ? "zero" : isNumber ? colourOf(place).slice("COLOUR_".length).toLowerCase() : "box";
  return (
    <g class={`cell ${tint}${lit.value ? " lit" : ""}`} data-cell={place}>
      <path class="cell-ground" d={zero ? zeroOutline(cell, measure, french) : outline(cell)} />
      {isNumber ? <NumberDrawing cell={cell} measure={measure} /> : <BoxLabel cell={cell} measure={measure} />}
    </g>
  );
}

function NumberDrawing({ cell, measure }: { cell: Cell; measure: Measure }) {
  const [x, y] = middle(cell);
  const zero = cell.place === "0" || cell.place === "00";
  const size = Math.min(measure.along, measure.across) * (zero ? 0.5 : 0.46);
  const inset = Math.min(measure.along, measure.across) * 0.07;
  return (
    <>
      {!zero && (
        <rect
          class="cell-number-ground"
          x={cell.x + inset}
          y={cell.y + inset}
          width={cell.width - 2 * inset}
          height={cell.height - 2 * inset}
          rx={Math.min(cell.width, cell.height) * 0.16}
        />
      )}
      <text class="cell-number" x={x} y={y} dy="0.35em" font-size={Math.min(size, 34)}>
        {cell.place}
      </text>
    </>
  );
}

function outline({ x, y, width, height }: Cell): string {
  return `M${x} ${y}h${width}v${height}h${-width}z`;
}

/** The zero's end of the cloth: round on a French one, pointed on an American one. */
function zeroOutline({ x, y, width, height }: Cell, { shape }: Measure, french: boolean): string {
  const [right, bottom, centreX, centreY] = [x + width, y + height, x + width / 2, y + height / 2];
  if (shape === "wide") {
    const shoulder = x + width * (french ? 0.62 : 0.34);
    const end = french
      ? `Q${x} ${bottom} ${x} ${centreY}Q${x} ${y} ${shoulder} ${y}`
      : `L${x} ${centreY}L${shoulder} ${y}`;
    return `M${shoulder} ${y}H${right}V${bottom}H${shoulder}${end}Z`;
  }
  const shoulder = y + height * (french ? 0.62 : 0.34);
  const end = french
    ? `Q${right} ${y} ${centreX} ${y}Q${x} ${y} ${x} ${shoulder}`
    : `L${centreX} ${y}L${x} ${shoulder}`;
  return `M${x} ${shoulder}V${bottom}H${right}V${shoulder}${end}Z`;
}

function middle({ x, y, width, height }: Cell): [number, number] {
  return [x + width / 2, y + height / 2];
}
