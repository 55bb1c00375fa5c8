// The bead road and the big road, drawn as on the displays of casinos; letters and shapes say what colours say.
import type { Roads } from "../layout/messages";
import { winnerLetter, winnerSide } from "../words/outcomes";
import { baccaratWords } from "../words/table_words";
import { beadColumns, bigRoadColumns, ROWS } from "./road_columns";
import "./roads.css";

const CELL = 22;

interface Props {
  roads: Roads | null;
  /** How many columns there is room for. */
  beads: number;
  columns: number;
}

export function RoadsPanel({ roads, beads, columns }: Props) {
  const words = baccaratWords();
  return (
    <section class="roads" aria-label={words.roads} data-testid="roads">
      <BeadRoad roads={roads} columns={beads} />
      <BigRoad roads={roads} columns={columns} />
      <p class="roads-note quiet">{roads && roads.bead_road.length === 0 ? words.noRoads : words.roadsHint}</p>
    </section>
  );
}

function BeadRoad({ roads, columns }: { roads: Roads | null; columns: number }) {
  const words = baccaratWords();
  const cells = roads?.bead_road ?? [];
  const count = (winner: string) => cells.filter((cell) => cell.winner === winner).length;
  const counts = words.counts(count("WINNER_PONTO"), count("WINNER_BANCA"), count("WINNER_TIE"));
  return (
    <figure class="road">
      <figcaption class="figures">
        {words.beadRoad}
        <span class="road-counts"> · {counts}</span>
      </figcaption>
      <svg viewBox={`0 0 ${columns * CELL} ${ROWS * CELL}`} role="img" aria-label={counts} data-testid="bead-road">
        <Grid columns={columns} />
        {beadColumns(cells, columns).map(({ cell, column, row }) => (
          <g
            key={cell.round_id}
            class={`bead is-${winnerSide(cell.winner)}`}
            transform={`translate(${(column + 0.5) * CELL} ${(row + 0.5) * CELL})`}
            data-round={cell.round_id}
          >
            <circle r={CELL * 0.42} />
            <text dy="0.36em">{winnerLetter(cell.winner)}</text>
            <PairDots ponto={cell.ponto_pair} banca={cell.banca_pair} />
          </g>
        ))}
      </svg>
    </figure>
  );
}

function BigRoad({ roads, columns }: { roads: Roads | null; columns: number }) {
  const words = baccaratWords();
  const marks = roads?.big_road ?? [];
  const before = roads?.ties_before_first ?? 0;
  return (
    <figure class="road">
      <figcaption>
        {words.bigRoad}
        {before > 0 && <span class="road-counts"> · {words.tiesFirst(before)}</span>}
      </figcaption>
      <svg
        viewBox={`0 0 ${columns * CELL} ${ROWS * CELL}`}
        role="img"
        aria-label={words.bigRoad}
        data-testid="big-road"
      >
        <Grid columns={columns} />
        {bigRoadColumns(marks, columns).map(({ column, row, winner, ties, ponto_pair, banca_pair }) => (
          <g
            key={`${column} ${row}`}
            class={`ring is-${winnerSide(winner)}`}
            transform={`translate(${(column + 0.5) * CELL} ${(row + 0.5) * CELL})`}
          >
            <circle r={CELL * 0.36} />
            {winner === "WINNER_PONTO" && <circle class="ring-dot" r={CELL * 0.1} />}
            {ties > 0 && (
              <>
                <title>{words.tieAfter(ties)}</title>
                <path class="ring-tie" d={`M${-CELL * 0.36} ${CELL * 0.36}L${CELL * 0.36} ${-CELL * 0.36}`} />
                {ties > 1 && <text dy="0.36em">{ties}</text>}
              </>
            )}
            <PairDots ponto={ponto_pair} banca={banca_pair} />
          </g>
        ))}
      </svg>
    </figure>
  );
}

function PairDots({ ponto, banca }: { ponto: boolean; banca: boolean }) {
  const at = CELL * 0.3;
  return (
    <>
      {ponto && <circle class="pair-dot is-ponto" cx={at} cy={at} r={CELL * 0.13} />}
      {banca && <circle class="pair-dot is-banca" cx={-at} cy={-at} r={CELL * 0.13} />}
    </>
  );
}

function Grid({ columns }: { columns: number }) {
  const down = Array.from({ length: columns + 1 }, (_, n) => `M${n * CELL} 0V${ROWS * CELL}`);
  const across = Array.from({ length: ROWS + 1 }, (_, n) => `M0 ${n * CELL}H${columns * CELL}`);
  return (
    <>
      <rect class="road-ground" width={columns * CELL} height={ROWS * CELL} />
      <path class="road-lines" d={[...down, ...across].join("")} />
    </>
  );
}
