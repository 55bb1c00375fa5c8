// The cloth and its rim.
import type { TableGeometry } from "../layout/geometry";

const RIM = 13;

export function FeltShape({ geometry, inscription }: { geometry: TableGeometry; inscription: string }) {
  const { width, height, felt, upright, board, boardCard } = geometry;
  const inner = grown(felt, -RIM);
  const line = grown(felt, -RIM - Math.min(felt.width, felt.height) * 0.1);
  const below = board.y + boardCard * (upright ? 1.15 : 1.02);
  return (
    <svg class="poker-cloth" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <defs>
        <radialGradient id="poker-cloth-light" cx="50%" cy="38%" r="75%">
          <stop offset="0" class="cloth-lit" />
          <stop offset="1" class="cloth-dark" />
        </radialGradient>
        <linearGradient id="poker-rim" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stop-color="#5a3a22" />
          <stop offset="0.5" stop-color="#2e1c0f" />
          <stop offset="1" stop-color="#432a17" />
        </linearGradient>
      </defs>
      <rect {...outline(felt)} fill="url(#poker-rim)" />
      <rect {...outline(grown(felt, -RIM + 2))} class="cloth-brass" />
      <rect {...outline(inner)} fill="url(#poker-cloth-light)" />
      <rect {...outline(line)} class="cloth-line" />
      {inscription && (
        <text class="cloth-name" x={board.x} y={below} font-size={Math.max(10, boardCard * 0.24)}>
          {inscription}
        </text>
      )}
    </svg>
  );
}

type Box = TableGeometry["felt"];

function grown({ x, y, width, height, round }: Box, by: number): Box {
  return {
    x: x - by,
    y: y - by,
    width: Math.max(0, width + 2 * by),
    height: Math.max(0, height + 2 * by),
    round: round + by,
  };
}

function outline({ x, y, width, height, round }: Box) {
  return { x, y, width, height, rx: Math.max(0, round) };
}
