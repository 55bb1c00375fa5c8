// The shoe, from which cards come, and the tray to which they go.
import type { RefObject } from "preact";
import type { TableGeometry } from "../layout/geometry";

interface Props {
  geometry: TableGeometry;
  place: RefObject<HTMLDivElement>;
}

export function Shoe({ geometry: { shoe, bankCard }, place }: Props) {
  const width = bankCard * 1.25;
  return (
    <div
      ref={place}
      class="felt-shoe"
      style={{ left: `${shoe.x}px`, top: `${shoe.y}px`, width: `${width}px` }}
      aria-hidden="true"
    >
      <svg viewBox="0 0 120 104" aria-hidden="true">
        <path class="shoe-side" d="M14 22L98 6L116 24V84L30 102L14 88Z" />
        <path class="shoe-top" d="M14 22L98 6L116 24L32 42Z" />
        <path class="shoe-cards" d="M38 46L108 31V76L38 92Z" />
        <path class="shoe-edge" d="M44 45V90M50 43.5V89M56 42V87.5M62 41V86M68 39.5V85" />
        <path class="shoe-lip" d="M30 42L44 39V92L30 102Z" />
      </svg>
    </div>
  );
}

/** Left of the bank, as far from it as the shoe. */
export function Discards({ geometry: { shoe, bankCard, width }, place }: Props) {
  return (
    <div
      ref={place}
      class="felt-discards"
      style={{ left: `${width - shoe.x}px`, top: `${shoe.y}px`, width: `${bankCard}px` }}
      aria-hidden="true"
    />
  );
}
