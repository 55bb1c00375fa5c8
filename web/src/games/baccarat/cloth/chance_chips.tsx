// Chips on a chance: a stack whose uppermost chip names the sum.
import { ChipFace } from "../../../chips/chip_face";
import { type Chip, chipStack } from "../../../chips/chips";
import type { Cents } from "../../../words/money";

interface Props {
  value: Cents;
  chips: readonly Chip[];
  /** Not accepted yet. */
  pending?: boolean;
  class?: string;
}

const RADIUS = 20;
const LIFT = 4.5;
// More would stand higher than their space.
const SHOWN_LIMIT = 5;

export function ChanceChips({ value, chips, pending = false, class: more = "" }: Props) {
  const stack = chipStack(value, chips).slice(0, SHOWN_LIMIT);
  return (
    <svg
      class={`chance-chips ${pending ? "chance-chips-pending" : ""} ${more}`}
      viewBox={`${-RADIUS - 1} ${-RADIUS - 1 - SHOWN_LIMIT * LIFT} ${2 * RADIUS + 2} ${2 * RADIUS + 2 + SHOWN_LIMIT * LIFT}`}
      aria-hidden="true"
    >
      {stack.map(({ colour }, index) => (
        <g key={index} transform={`translate(0 ${(-index * LIFT).toFixed(1)})`}>
          {index < stack.length - 1 ? (
            <g class={`chip chip-${colour}`}>
              <circle class="chip-body" r={RADIUS} />
              <circle class="chip-rim" r={RADIUS} stroke-width="1" />
            </g>
          ) : (
            <ChipFace value={value} colour={stack[0]?.colour ?? 0} radius={RADIUS} />
          )}
        </g>
      ))}
    </svg>
  );
}
