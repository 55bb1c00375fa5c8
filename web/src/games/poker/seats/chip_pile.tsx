// A pile of chips that makes an amount (806/2015:13); the amount is written beside it.
import { ChipFace } from "../../../chips/chip_face";
import { chipSet, chipStack } from "../../../chips/chips";
import type { Cents, Unit } from "../../../words/money";

// The most chips that a pile shows.
const HIGHEST = 4;
const RADIUS = 20;
const STEP = 6;

interface Props {
  value: Cents;
  /** The least chip. */
  least: Cents;
  unit: Unit;
  /** In pixels. */
  size: number;
}

export function ChipPile({ value, least, unit, size }: Props) {
  const chips = chipSet(Math.max(least, 1), Number.POSITIVE_INFINITY);
  const pile = chipStack(value, chips).slice(0, HIGHEST).reverse();
  const raised = (pile.length - 1) * STEP;
  return (
    <svg
      class="poker-chips"
      width={size}
      height={size * (1 + raised / 44)}
      viewBox={`-22 ${-22 - raised} 44 ${44 + raised}`}
      aria-hidden="true"
    >
      {pile.map((chip, index) => (
        <g key={index} transform={`translate(0 ${-index * STEP})`}>
          <ChipFace value={chip.value} colour={chip.colour} radius={RADIUS} unit={unit} />
        </g>
      ))}
    </svg>
  );
}
