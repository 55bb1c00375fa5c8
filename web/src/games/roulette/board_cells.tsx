// The cloth: numbers, boxes and lines, and what is lit of them.
import { useComputed } from "@preact/signals";
import type { BoardPlaces, Cell, Measure } from "./board_places";
import type { Felt } from "./felt";
import { colourOf } from "./pockets";
import { words } from "./words";

interface Props {
  felt: Felt;
  board: BoardPlaces;
  measure: Measure;
}

export function BoardCells({ felt, board, measure }: Props) {
  const french = felt.layout.wheel === "WHEEL_FRENCH";
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing within can have the focus
    <g class="cells" aria-hidden="true">
      {[...board.cells.values()].map((cell) => (
        <CellDrawn key={cell.place} felt={felt} cell={cell} measure={measure} french={french} />
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

function CellDrawn({ felt, cell, measure, french }: CellProps) {
  const { place } = cell;
  const lit = useComputed(() => felt.litNumbers.value.has(place) || felt.litPlaces.value.has(place));
  const isNumber = /^\d+$/.test(place);
  const zero = place === "0" || place === "00";
  const tint = zero ? "zero" : isNumber ? colourOf(place).slice("COLOUR_".length).toLowerCase() : "box";
  return (
    <g class={`cell ${tint}${lit.value ? " lit" : ""}`} data-cell={place}>
      <path class="cell-ground" d={zero ? zeroOutline(cell, measure, french) : outline(cell)} />
      {isNumber ? <NumberDrawn cell={cell} measure={measure} /> : <Box cell={cell} measure={measure} />}
    </g>
  );
}

function NumberDrawn({ cell, measure }: { cell: Cell; measure: Measure }) {
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

function Box({ cell, measure }: { cell: Cell; measure: Measure }) {
  const [x, y] = middle(cell);
  const { place } = cell;
  // Words run along the boxes of a tall cloth, and across the columns' boxes of a wide one.
  const upright = (measure.shape === "tall") !== place.startsWith("column");
  if (place === "red" || place === "black") return <Diamond cell={cell} upright={upright} />;
  const lines = boxWords(place);
  const [length, breadth] = upright ? [cell.height, cell.width] : [cell.width, cell.height];
  // The chips on a column lie at the left of its box on a tall cloth.
  const aside = place.startsWith("column") && !upright ? length * 0.1 : 0;
  const longest = Math.max(...lines.map((line) => line.length));
  const size = Math.min(breadth * (lines.length > 1 ? 0.28 : 0.36), (length * 1.12) / longest, 22);
  return (
    <text
      class="cell-words"
      font-size={size}
      transform={`translate(${x + aside} ${y})${upright ? " rotate(-90)" : ""}`}
    >
      {lines.map((line, index) => (
        <tspan key={line} x="0" dy={index === 0 ? `${0.35 - (lines.length - 1) * 0.55}em` : "1.1em"}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

function boxWords(place: string): string[] {
  const say = words();
  if (place.startsWith("column")) return [say.column];
  if (place.startsWith("dozen")) return [say.dozens[Number(place.slice(-1)) - 1] ?? ""];
  if (place === "low") return [say.low, "1–18"];
  if (place === "high") return [say.high, "19–36"];
  return [place === "even" ? say.even : say.odd];
}

/** Encarnado and preto: as on the cloth, a lozenge; its name stands beneath it. */
function Diamond({ cell, upright }: { cell: Cell; upright: boolean }) {
  const [x, y] = middle(cell);
  const [length, breadth] = upright ? [cell.height, cell.width] : [cell.width, cell.height];
  const [rx, ry] = [Math.min(length * 0.32, breadth * 0.62), breadth * 0.25];
  const size = Math.min(breadth * 0.22, length * 0.15, 15);
  // Away from where the chips lie.
  const aside = length * (upright ? 0.1 : -0.1);
  return (
    <g transform={`translate(${x} ${y})${upright ? " rotate(-90)" : ""} translate(${aside} 0)`}>
      <path
        class={`cell-diamond ${cell.place}`}
        d={`M${-rx} 0L0 ${-ry}L${rx} 0L0 ${ry}Z`}
        transform={`translate(0 ${-breadth * 0.13})`}
      />
      <text class="cell-words" font-size={size} y={breadth * 0.33} dy="0.35em">
        {cell.place === "red" ? words().red : words().black}
      </text>
    </g>
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
