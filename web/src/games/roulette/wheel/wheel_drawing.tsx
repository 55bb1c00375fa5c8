// Draws the wheel: a bowl of turned wood, the rotor with its numbers, the light upon it, the ball.

import type { Colour, Pocket } from "../layout/messages";
import { DEFLECTORS, pocketAngle } from "./ball_path";
import { POCKETS, point, RING, sector } from "./wheel_geometry";
import { WheelNumber } from "./wheel_number";

const DEFLECTOR_AT = 383;

const FILLS: Record<Colour, { ring: string; pocket: string }> = {
  COLOUR_UNSPECIFIED: { ring: "#444", pocket: "#333" },
  COLOUR_RED: { ring: "#c01524", pocket: "url(#wheel-pocket-red)" },
  COLOUR_BLACK: { ring: "#131517", pocket: "url(#wheel-pocket-black)" },
  COLOUR_GREEN: { ring: "#0b7d49", pocket: "url(#wheel-pocket-green)" },
};

/** The still parts: the wood, the ball's track, the deflectors. The wood itself is in wheel.css. */
export function Bowl() {
  return (
    <>
      <div class="wheel-layer wheel-wood" />
      <div class="wheel-layer wheel-track" />
      <div class="wheel-layer wheel-slope" />
      <svg class="wheel-layer" viewBox="-500 -500 1000 1000" aria-hidden="true">
        <defs>
          <radialGradient id="wheel-well" gradientUnits="userSpaceOnUse" cx="0" cy="0" r="362">
            <stop offset="0.945" stop-color="#000" stop-opacity="0.95" />
            <stop offset="0.97" stop-color="#000" stop-opacity="0.6" />
            <stop offset="1" stop-color="#000" stop-opacity="0" />
          </radialGradient>
        </defs>
        <circle r="362" fill="url(#wheel-well)" />
        {Array.from({ length: DEFLECTORS }, (_, no) => (
          <Deflector key={no} angle={((no + 0.5) * 2 * Math.PI) / DEFLECTORS} lengthwise={no % 2 === 0} />
        ))}
      </svg>
    </>
  );
}

/** A diamond of brass with four faces, each lit from the upper left. */
function Deflector({ angle, lengthwise }: { angle: number; lengthwise: boolean }) {
  const [x, y] = [DEFLECTOR_AT * Math.sin(angle), -DEFLECTOR_AT * Math.cos(angle)];
  const turn = angle + (lengthwise ? 0 : Math.PI / 2);
  const corners = [0, 1, 2, 3].map((no) => {
    const reach = no % 2 ? 11 : 31;
    const at = turn + (no * Math.PI) / 2;
    return [reach * Math.sin(at), -reach * Math.cos(at)] as const;
  });
  return (
    <g transform={`translate(${x.toFixed(2)} ${y.toFixed(2)})`}>
      <path
        d={`M${corners.map(([cx, cy]) => `${(cx + 4).toFixed(1)} ${(cy + 6).toFixed(1)}`).join("L")}Z`}
        fill="#000"
        opacity="0.5"
      />
      {corners.map(([cx, cy], no) => {
        const [nx, ny] = corners[(no + 1) % 4] as readonly [number, number];
        const facing = Math.atan2(cx + nx, -(cy + ny)) + Math.PI / 4;
        const light = 0.5 + 0.5 * Math.cos(facing);
        return (
          <path
            key={`${cx}`}
            d={`M0 0L${cx.toFixed(2)} ${cy.toFixed(2)}L${nx.toFixed(2)} ${ny.toFixed(2)}Z`}
            fill={`color-mix(in oklab, #fff1bf ${(light * 100).toFixed(0)}%, #7a5418)`}
          />
        );
      })}
    </g>
  );
}

/** The turning parts. */
export function Rotor({ pockets }: { pockets: readonly Pocket[] }) {
  const width = (2 * Math.PI) / pockets.length;
  return (
    <>
      <svg class="wheel-layer" viewBox="-500 -500 1000 1000" aria-hidden="true">
        <defs>
          {(
            [
              ["red", "#b01420", "#5a070f"],
              ["black", "#2a2d31", "#08090a"],
              ["green", "#0d8a51", "#043f25"],
            ] as const
          ).map(([name, lit, deep]) => (
            <radialGradient
              key={name}
              id={`wheel-pocket-${name}`}
              gradientUnits="userSpaceOnUse"
              cx="0"
              cy="0"
              r={POCKETS.outer}
            >
              <stop offset="0.739" stop-color={deep} />
              <stop offset="0.8" stop-color={lit} />
              <stop offset="0.9" stop-color={deep} />
              <stop offset="1" stop-color={deep} />
            </radialGradient>
          ))}
          <radialGradient id="wheel-brass-ring" gradientUnits="userSpaceOnUse" cx="0" cy="0" r="352">
            <stop offset="0.965" stop-color="#6b4a14" />
            <stop offset="0.982" stop-color="#f6dd95" />
            <stop offset="1" stop-color="#7d581c" />
          </radialGradient>
        </defs>
        <circle r="351" fill="url(#wheel-brass-ring)" />
        {pockets.map(({ number, colour }, no) => {
          const middle = pocketAngle(no, pockets.length);
          const [from, to] = [middle - width / 2, middle + width / 2];
          return (
            <g key={number}>
              <path d={sector(RING.outer, RING.inner, from, to)} fill={FILLS[colour].ring} />
              <path d={sector(POCKETS.outer, POCKETS.inner, from, to)} fill={FILLS[colour].pocket} />
              <WheelNumber number={number} angle={middle} />
            </g>
          );
        })}
        {/* The separators: bright on one side, in shadow on the other. */}
        {pockets.map(({ number }, no) => {
          const at = pocketAngle(no, pockets.length) + width / 2;
          return (
            <g key={number}>
              <path d={`M${point(RING.outer, at)}L${point(RING.inner, at)}`} stroke="#e9d9a6" stroke-width="1.6" />
              <path
                d={`M${point(POCKETS.outer, at)}L${point(POCKETS.inner, at)}`}
                stroke="#000"
                stroke-opacity="0.55"
                stroke-width="8"
              />
              <path
                d={`M${point(POCKETS.outer, at)}L${point(POCKETS.inner, at)}`}
                stroke="#d9b968"
                stroke-width="4.2"
              />
              <path
                d={`M${point(POCKETS.outer, at)}L${point(POCKETS.inner, at)}`}
                stroke="#fff3cf"
                stroke-width="1.3"
              />
            </g>
          );
        })}
        <circle r={RING.inner} fill="none" stroke="#f1dca0" stroke-width="3" />
        <circle r={RING.outer} fill="none" stroke="#3a270a" stroke-width="2" />
      </svg>
      <div class="wheel-layer wheel-cone" />
      <svg class="wheel-layer" viewBox="-500 -500 1000 1000" aria-hidden="true">
        <Handles />
      </svg>
    </>
  );
}

/** The cross of handles in the middle, with a knob at each end. */
function Handles() {
  return (
    <>
      <defs>
        <linearGradient id="wheel-arm" x1="0" x2="1" y1="0" y2="0">
          <stop offset="0" stop-color="#6d4a13" />
          <stop offset="0.35" stop-color="#fbe7ac" />
          <stop offset="0.6" stop-color="#d6aa4b" />
          <stop offset="1" stop-color="#5a3c0e" />
        </linearGradient>
        <radialGradient id="wheel-knob" cx="0.4" cy="0.36" r="0.7">
          <stop offset="0" stop-color="#fff7da" />
          <stop offset="0.4" stop-color="#e3bb5e" />
          <stop offset="1" stop-color="#553809" />
        </radialGradient>
      </defs>
      {[0, 90, 180, 270].map((turn) => (
        <g key={turn} transform={`rotate(${turn})`}>
          <path d="M-10 0L-5.5 -118H5.5L10 0Z" fill="url(#wheel-arm)" />
          <rect x="-11" y="-84" width="22" height="9" rx="4" fill="url(#wheel-arm)" />
          <ellipse cy="-127" rx="15" ry="18" fill="url(#wheel-knob)" />
        </g>
      ))}
    </>
  );
}

/** The light on the rotor, which does not turn with it. */
export function LightOnRotor() {
  return (
    <>
      <div class="wheel-layer wheel-light" />
      <div class="wheel-layer wheel-finial" />
    </>
  );
}

export function BallOnWheel() {
  return <div class="wheel-ball-itself" />;
}

/** One of the paler balls behind the ball. */
export function BallBehind() {
  return (
    <div class="wheel-ball">
      <div class="wheel-ball-itself wheel-ball-behind" />
    </div>
  );
}
