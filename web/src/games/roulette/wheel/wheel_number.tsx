// A number on the ring of the wheel.
import { degrees } from "./wheel_geometry";
import "./wheel_number.css";

const NUMBERS_AT = -294;
const DIGIT = 19.5;

/** As wide as its pocket allows, in whatever font a device has. */
export function WheelNumber({ number, angle }: { number: string; angle: number }) {
  return (
    <text
      class="wheel-number"
      y={NUMBERS_AT}
      transform={`rotate(${degrees(angle).toFixed(3)})`}
      textLength={number.length * DIGIT}
      lengthAdjust="spacingAndGlyphs"
    >
      {number}
    </text>
  );
}
