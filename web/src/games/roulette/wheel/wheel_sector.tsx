// The sector of the wheel around a number, with its neighbours and the ball in its pocket.

import type { Pocket } from "../layout/messages";
import { colourClass } from "../words/outcomes";
import { pocketAngle } from "./ball_path";
import { POCKETS, point, RING, sector } from "./wheel_geometry";
import { WheelNumber } from "./wheel_number";
import "./wheel_sector.css";

const BESIDE = 4;
const BALL_AT = 240;

export function WheelSector({ pockets, number }: { pockets: readonly Pocket[]; number: string }) {
  const middle = pockets.findIndex((pocket) => pocket.number === number);
  const width = pocketAngle(1, pockets.length);
  const shown = Array.from({ length: 2 * BESIDE + 1 }, (_, no) => {
    const pocket = pockets[(middle + no - BESIDE + pockets.length) % pockets.length];
    return { number: pocket?.number ?? "", angle: (no - BESIDE) * width };
  });
  const edge = (BESIDE + 0.5) * width;
  return (
    <svg class="wheel-sector" viewBox="-252 -366 504 186" aria-hidden="true" data-testid="wheel-sector">
      <path class="sector-wood" d={sector(364, RING.outer, -edge, edge)} />
      {shown.map((pocket) => {
        const [from, to] = [pocket.angle - width / 2, pocket.angle + width / 2];
        return (
          <g key={pocket.number} class={colourClass(pocket.number)}>
            <path class="sector-ring" d={sector(RING.outer, RING.inner, from, to)} />
            <path class="sector-pocket" d={sector(POCKETS.outer, POCKETS.inner, from, to)} />
            <path
              class="sector-separator"
              d={`M${point(RING.outer, to)}L${point(POCKETS.inner, to)}M${point(RING.outer, from)}L${point(POCKETS.inner, from)}`}
            />
            <WheelNumber number={pocket.number} angle={pocket.angle} />
          </g>
        );
      })}
      <path
        class="sector-edge"
        d={`M${point(RING.inner, -edge)}A${RING.inner} ${RING.inner} 0 0 1 ${point(RING.inner, edge)}`}
      />
      <path
        class="sector-edge"
        d={`M${point(RING.outer, -edge)}A${RING.outer} ${RING.outer} 0 0 1 ${point(RING.outer, edge)}`}
      />
      <ellipse class="sector-shadow" cx="3" cy={6 - BALL_AT} rx="17" ry="16" />
      <circle class="sector-ball" cy={-BALL_AT} r="15" />
      <circle class="sector-gleam" cx="-5" cy={-BALL_AT - 5} r="4" />
    </svg>
  );
}
