// A pile of chips that makes an amount.
import { ChipFace } from "../../../chips/chip_face";
import { type Chip, chipStack } from "../../../chips/chips";
import type { Cents } from "../../../words/money";

// The most chips that a pile shows; its amount is written on the top one.
const HIGHEST = 5;
const RADIUS = 20;
const STEP = 4;

interface Props {
  felt: { chips: readonly Chip[] };
  value: Cents;
  /** In pixels. */
  size: number;
  pending?: boolean;
}

export function ChipPile({ felt, value, size, pending = false }: Props) {
  const pile = chipStack(value, felt.chips).slice(0, HIGHEST).reverse();
  return (
    <svg
      class={pending ? "chip-pile pending" : "chip-pile"}
      width={size}
      height={size}
      viewBox="-22 -22 44 44"
      overflow="visible"
      aria-hidden="true"
    >
      {pile.map((chip, index) => (
        <g key={index} transform={`translate(0 ${-index * STEP})`}>
          <ChipFace value={index === pile.length - 1 ? value : chip.value} colour={chip.colour} radius={RADIUS} />
        </g>
      ))}
    </svg>
  );
}
