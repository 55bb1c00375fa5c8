// A chip as it is drawn in the tray and on the board.
import { type Cents, count, shortAmount, type Unit } from "../words/money";
import "./chip_face.css";

interface Props {
  value: Cents;
  colour: number;
  radius: number;
  /** What it is worth; the chips of a tournament are counted, and worth no money. */
  unit?: Unit;
}

// Eight edge spots; each dash is a sixteenth of the circumference.
const SPOTS = 16;

/** Centred on the origin. */
export function ChipFace({ value, colour, radius, unit }: Props) {
  const text = unit === "CHIPS" ? count(value) : shortAmount(value);
  const edge = radius * 0.86;
  const dash = (2 * Math.PI * edge) / SPOTS;
  return (
    <g class={`chip chip-${colour}`}>
      <circle class="chip-body" r={radius} />
      <circle
        class="chip-spots"
        r={edge}
        stroke-width={radius * 0.27}
        stroke-dasharray={`${dash.toFixed(2)} ${dash.toFixed(2)}`}
      />
      <circle class="chip-rim" r={radius} stroke-width={Math.max(0.6, radius * 0.05)} />
      <circle class="chip-middle" r={radius * 0.68} stroke-width={Math.max(0.5, radius * 0.05)} />
      <text class="chip-value" font-size={radius * textSize(text.length)} dy="0.35em">
        {text}
      </text>
    </g>
  );
}

/** Long amounts are written smaller, to stay within the chip. */
function textSize(length: number): number {
  return Math.min(0.82, 2.15 / Math.max(length, 1));
}
