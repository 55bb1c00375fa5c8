// A ring that empties as the time to decide runs.
import "./turn_ring.css";

interface Props {
  radius: number;
  share: number;
  own: boolean;
}

/** Centred on its place. */
export function TurnRing({ radius, share, own }: Props) {
  const around = 2 * Math.PI * radius;
  const size = 2 * radius + 10;
  return (
    <svg
      class={`turn-ring${own ? " own" : ""}${share < 0.25 ? " last" : ""}`}
      width={size}
      height={size}
      viewBox={`${-size / 2} ${-size / 2} ${size} ${size}`}
      aria-hidden="true"
    >
      <circle class="turn-track" r={radius} />
      <circle class="turn-left" r={radius} stroke-dasharray={around} stroke-dashoffset={around * (1 - share)} />
    </svg>
  );
}
