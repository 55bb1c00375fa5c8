// The drawing of a card, face and back, on a ground 100 wide and 140 high.
import { type Card, type Rank, rankSign, type Suit } from "./card_names";
import { CourtFigure } from "./court_figure";
import { pipsOf } from "./pips";
import { SUIT_PATHS } from "./suits";

/** The face. Its middle is drawn twice: in full, and large and plain for small cards; the style sheet chooses. */
export function CardFace({ card: { rank, suit } }: { card: Card }) {
  return (
    <svg class={`card-face card-of-${suit}`} viewBox="0 0 100 140" aria-hidden="true">
      <rect class="card-paper" x="0.5" y="0.5" width="99" height="139" rx="8" />
      <g class="card-full">
        <Corner rank={rank} suit={suit} />
        <g transform="rotate(180 50 70)">
          <Corner rank={rank} suit={suit} />
        </g>
        {rank === "J" || rank === "Q" || rank === "K" ? (
          <CourtFigure rank={rank} suit={suit} />
        ) : (
          <g class="card-suit">
            {pipsOf(rank).map(({ x, y, upsideDown }) => (
              <path
                key={`${x} ${y}`}
                d={SUIT_PATHS[suit]}
                transform={`translate(${x} ${y}) scale(${rank === "A" ? 2.4 : 0.82})${upsideDown ? " rotate(180)" : ""}`}
              />
            ))}
          </g>
        )}
      </g>
      <g class="card-plain card-suit">
        <text
          x={rank === "T" ? 38 : 30}
          y="56"
          textLength={rank === "T" ? 62 : undefined}
          lengthAdjust="spacingAndGlyphs"
        >
          {rankSign(rank)}
        </text>
        <path d={SUIT_PATHS[suit]} transform="translate(58 98) scale(3)" />
      </g>
    </svg>
  );
}

/** The index, large enough to be read on the strip that the next card leaves free. */
function Corner({ rank, suit }: { rank: Rank; suit: Suit }) {
  return (
    <g class="card-corner card-suit">
      <text x="13" y="26" textLength={rank === "T" ? 20 : undefined} lengthAdjust="spacingAndGlyphs">
        {rankSign(rank)}
      </text>
      <path d={SUIT_PATHS[suit]} transform="translate(13 38) scale(0.72)" />
    </g>
  );
}

// A lattice within the back's frame, 80 × 120, of squares that stand on a corner.
const LATTICE_STEP = 10;
const LATTICE = lattice(10, 10, 80, 120);

export function CardBack() {
  return (
    <svg class="card-back" viewBox="0 0 100 140" aria-hidden="true">
      <rect class="card-paper" x="0.5" y="0.5" width="99" height="139" rx="8" />
      <rect class="card-back-ground" x="6" y="6" width="88" height="128" rx="5" />
      <path class="card-back-lattice" d={LATTICE} />
      <rect class="card-back-frame" x="10" y="10" width="80" height="120" rx="3" />
      <circle class="card-back-ground" cx="50" cy="70" r="19" />
      <circle class="card-back-frame" cx="50" cy="70" r="19" />
      <g class="card-back-suits">
        <path d={SUIT_PATHS.s} transform="translate(50 61) scale(0.55)" />
        <path d={SUIT_PATHS.h} transform="translate(59.5 70) scale(0.55)" />
        <path d={SUIT_PATHS.c} transform="translate(50 79.5) scale(0.55)" />
        <path d={SUIT_PATHS.d} transform="translate(40.5 70) scale(0.55)" />
      </g>
    </svg>
  );
}

/** Lines through a rectangle in both diagonal directions. */
function lattice(left: number, top: number, width: number, height: number): string {
  const lines: string[] = [];
  for (let start = LATTICE_STEP; start < width + height; start += LATTICE_STEP) {
    const [x1, y1] = [Math.min(start, width), Math.max(0, start - width)];
    const [x2, y2] = [Math.max(0, start - height), Math.min(start, height)];
    lines.push(`M${left + x1} ${top + y1}L${left + x2} ${top + y2}`);
    lines.push(`M${left + width - x1} ${top + y1}L${left + width - x2} ${top + y2}`);
  }
  return lines.join("");
}
