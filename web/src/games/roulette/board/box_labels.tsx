// The words in the boxes of the cloth: level, except in the columns' boxes of a wide board, as large as possible, and clear
// of the chips.
import type { ComponentChildren } from "preact";
import { textWidth } from "../../../browser/text_width";
import { rouletteWords } from "../words/table_words";
import type { Cell } from "./board_geometry";
import type { Measure } from "./measure";

// As board.css has it.
const LETTERS = { typeface: "--serif", weight: 600, spacing: 0.02 };
const LARGEST = 22;
const LARGEST_OF_COLUMN = 16;

/** Where words stand in a box, as fractions of its length (along the words) and breadth. */
interface LabelPosition {
  /** The most of the length that the words may take, and of the breadth that a line may take. */
  length: number;
  line: number;
  /** From the middle of the box. */
  x: number;
  y: number;
}

export function BoxLabel({ cell, measure }: { cell: Cell; measure: Measure }) {
  const { place } = cell;
  const wide = measure.shape === "wide";
  if (place === "red" || place === "black") return <Coloured cell={cell} colour={place} />;
  if (place.startsWith("column")) {
    const lines = [rouletteWords().column];
    // Chips lie at the right of an upright box, and at the left of a level one.
    return wide ? (
      <Lines
        cell={cell}
        lines={lines}
        upright
        standing={{ length: 0.88, line: 0.34, x: 0, y: -0.18 }}
        largest={LARGEST_OF_COLUMN}
      />
    ) : (
      <Lines
        cell={cell}
        lines={lines}
        standing={{ length: 0.5, line: 0.62, x: 0.165, y: 0 }}
        largest={LARGEST_OF_COLUMN}
      />
    );
  }
  if (place.startsWith("dozen")) {
    const name = rouletteWords().dozens[Number(place.slice(-1)) - 1] ?? "";
    return wide ? (
      <Lines cell={cell} lines={[name]} standing={{ length: 0.5, line: 0.42, x: 0, y: 0 }} />
    ) : (
      <Lines cell={cell} lines={name.split(" ")} standing={{ length: 0.8, line: 0.2, x: 0, y: -0.1 }} />
    );
  }
  if (place === "low" || place === "high") {
    const lines = place === "low" ? [rouletteWords().low, "1–18"] : [rouletteWords().high, "19–36"];
    return wide ? (
      <Lines cell={cell} lines={lines} standing={{ length: 0.58, line: 0.34, x: -0.13, y: 0 }} />
    ) : (
      <Lines cell={cell} lines={lines} standing={{ length: 0.56, line: 0.3, x: -0.14, y: 0 }} />
    );
  }
  const lines = [place === "even" ? rouletteWords().even : rouletteWords().odd];
  return wide ? (
    <Lines cell={cell} lines={lines} standing={{ length: 0.58, line: 0.42, x: -0.11, y: 0 }} />
  ) : (
    <Lines cell={cell} lines={lines} standing={{ length: 0.8, line: 0.36, x: 0, y: -0.16 }} />
  );
}

interface LinesProps {
  cell: Cell;
  lines: readonly string[];
  standing: LabelPosition;
  upright?: boolean;
  largest?: number;
}

function Lines({ cell, lines, standing, upright = false, largest = LARGEST }: LinesProps) {
  const [length, breadth] = upright ? [cell.height, cell.width] : [cell.width, cell.height];
  const size = Math.min(breadth * standing.line, (length * standing.length) / widthOf(lines), largest);
  return (
    <Turned cell={cell} upright={upright}>
      <text class="cell-words" font-size={size} transform={`translate(${length * standing.x} ${breadth * standing.y})`}>
        {lines.map((line, index) => (
          <tspan key={line} x="0" dy={index === 0 ? `${0.35 - (lines.length - 1) * 0.52}em` : "1.04em"}>
            {line}
            {index < lines.length - 1 && <tspan font-size="0"> </tspan>}
          </tspan>
        ))}
      </text>
    </Turned>
  );
}

/** The width of the widest line, in multiples of the letters' size. */
function widthOf(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => textWidth(line, LETTERS)));
}

/** Encarnado and preto: the name, and beneath it a lozenge, as on the cloth. */
function Coloured({ cell, colour }: { cell: Cell; colour: "red" | "black" }) {
  const { width, height } = cell;
  const name = colour === "red" ? rouletteWords().red : rouletteWords().black;
  // Both names are as large as the wider of them can be.
  const size = Math.min(height * 0.32, (width * 0.88) / widthOf([rouletteWords().red, rouletteWords().black]), 16);
  const room = height - size * 1.14;
  const ry = room * 0.42;
  const rx = Math.min(width * 0.26, ry * 1.9);
  return (
    <Turned cell={cell}>
      <text class="cell-words" font-size={size} y={size * 0.66 - height / 2} dy="0.35em">
        {name}
      </text>
      <path
        class={`cell-diamond ${colour}`}
        d={`M${-rx} 0L0 ${-ry}L${rx} 0L0 ${ry}Z`}
        transform={`translate(${-width * 0.17} ${(height - room) / 2 - height * 0.02})`}
      />
    </Turned>
  );
}

/** Places words about the middle of a box; upright, they read from bottom to top. */
function Turned({ cell, upright = false, children }: { cell: Cell; upright?: boolean; children: ComponentChildren }) {
  const [x, y] = [cell.x + cell.width / 2, cell.y + cell.height / 2];
  return <g transform={`translate(${x} ${y})${upright ? " rotate(-90)" : ""}`}>{children}</g>;
}
