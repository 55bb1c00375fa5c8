// The racetrack for call bets (807/2015:8): series, a number with its neighbours, finals. Pointing at one shows on the
// board what a click would place.
import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { useElementSize } from "../../../browser/element_size";
import { textWidth } from "../../../browser/text_width";
import { callBetLabel } from "../felt/bet_description";
import type { Felt } from "../felt/felt";
import { colourOf } from "../layout/pockets";
import { rouletteWords } from "../words/table_words";
import { fittingSize, type Line } from "./label_size";
import { racetrackGeometry, type TrackArea, type TrackPocket } from "./racetrack_geometry";
import "./racetrack.css";

const NEIGHBOURS = [2, 4, 6] as const;

export function Racetrack({ felt }: { felt: Felt }) {
  const frame = useRef<HTMLDivElement>(null);
  const room = useElementSize(frame);
  const neighbours = useSignal<number>(NEIGHBOURS[0]);
  const words = rouletteWords();
  const finals = felt.layout.call_bets.filter(({ place }) => place.startsWith("final-"));
  return (
    <div class="racetrack" data-testid="racetrack">
      <div class="racetrack-oval" ref={frame}>
        {room && room.width > 60 && room.height > 60 && (
          <Oval felt={felt} width={room.width} height={room.height} neighbours={neighbours.value} />
        )}
      </div>
      <div class="racetrack-choices">
        <fieldset class="racetrack-choice" title={words.neighboursHint}>
          <legend>{words.neighbours}</legend>
          {NEIGHBOURS.map((count) => (
            <button
              key={count}
              type="button"
              class="racetrack-option"
              aria-pressed={neighbours.value === count}
              aria-label={`${words.neighboursHint}: ${words.withNeighbours(count)}`}
              onClick={() => {
                neighbours.value = count;
              }}
              data-testid={`neighbours-${count}`}
            >
              {count}
            </button>
          ))}
        </fieldset>
        {finals.length > 0 && (
          <fieldset class="racetrack-choice">
            <legend>{words.finals}</legend>
            {finals.map(({ place }) => (
              <button
                key={place}
                type="button"
                class="racetrack-option"
                {...callBetButton(felt, place)}
                onClick={() => felt.placeChip(place)}
              >
                {place.slice("final-".length)}
              </button>
            ))}
          </fieldset>
        )}
      </div>
    </div>
  );
}

interface OvalProps {
  felt: Felt;
  width: number;
  height: number;
  neighbours: number;
}

const MARGIN = 2;
// As racetrack.css has it.
const LETTERS = { typeface: "--serif", weight: 600 };
const LARGEST = 17;
// From the baseline of one line to that of the next, and from the middle of a line to its baseline.
const LINE_HEIGHT = 1.1;
const HALF_LETTER = 0.35;
// Places that cover more than a line are clearer on the board, and not marked here.
const COVERS_MOST = 6;

function Oval({ felt, width, height, neighbours }: OvalProps) {
  const breadth = Math.min(width, height);
  // Upright, or almost as high as it is wide, its areas are too narrow for their names.
  const broken = height > width || width < 2.4 * breadth;
  const band = Math.min(breadth * 0.27, 44);
  const { pockets, areas, numberSize } = useMemo(() => {
    const { pockets, areas } = racetrackGeometry(felt.layout, width - 2 * MARGIN, height - 2 * MARGIN, band);
    const most = Math.min(band * 0.46, LARGEST);
    // All numbers are as large as the one with the least room can be.
    const sizes = pockets.map((pocket) => fittingSize(pocket.outline, pocket, linesOf([pocket.number]), most));
    return { pockets, areas, numberSize: Math.min(...sizes) };
  }, [felt, width, height, band]);
  const covered = useComputed(() => coveredNumbers(felt));
  const svg = useRef<SVGSVGElement>(null);
  const tabbed = useSignal(pockets[0]?.number ?? "0");
  const along = (by: number) => {
    const at = pockets.findIndex(({ number }) => number === tabbed.value);
    const next = pockets[(at + by + pockets.length) % pockets.length];
    if (next) svg.current?.querySelector<SVGElement>(`[data-number="${next.number}"]`)?.focus();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be drawn; the pockets and areas within are the buttons
    <svg
      ref={svg}
      class={felt.bettable.value ? "track" : "track shut"}
      width={width}
      height={height}
      viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
      role="group"
      aria-label={rouletteWords().racetrackLong}
      onKeyDown={(event) => {
        const place = (event.target as SVGElement).dataset["call"];
        if (event.key === "ArrowRight" || event.key === "ArrowDown") along(1);
        else if (event.key === "ArrowLeft" || event.key === "ArrowUp") along(-1);
        else if ((event.key === "Enter" || event.key === " ") && place) felt.placeChip(place);
        else return;
        event.preventDefault();
      }}
    >
      {areas.map((area) => (
        <Area key={area.place} felt={felt} area={area} broken={broken} most={Math.min(breadth * 0.105, LARGEST)} />
      ))}
      {pockets.map((pocket) => (
        <Pocket
          key={pocket.number}
          felt={felt}
          pocket={pocket}
          place={`neighbours-${pocket.number}-${neighbours}`}
          tabIndex={tabbed.value === pocket.number ? 0 : -1}
          onFocus={() => {
            tabbed.value = pocket.number;
          }}
          covered={covered}
          size={numberSize}
        />
      ))}
    </svg>
  );
}

function Area({ felt, area, broken, most }: { felt: Felt; area: TrackArea; broken: boolean; most: number }) {
  const words = rouletteWords();
  const name = area.place === "voisins" ? words.voisins : area.place === "tiers" ? words.tiers : words.orphelins;
  const lines = linesOf(broken || area.place === "voisins" ? name.split(/ (?=do|of|5)/) : [name]);
  const lit = useComputed(() => felt.pointedPlace.value === area.place);
  return (
    // biome-ignore lint/a11y/useSemanticElements: HTML buttons cannot be drawn within a picture
    <g
      class={lit.value ? "track-area lit" : "track-area"}
      role="button"
      tabindex={0}
      {...callBetButton(felt, area.place)}
      onClick={() => felt.placeChip(area.place)}
    >
      <path d={area.path} />
      <text font-size={fittingSize(area.outline, area, lines, most)} transform={`translate(${area.x} ${area.y})`}>
        {lines.map(({ text, baseline }, index) => (
          <tspan key={text} x="0" dy={`${index === 0 ? baseline : LINE_HEIGHT}em`}>
            {text}
            {/* Between the words where they are read; it takes no room, which would move the line aside. */}
            {index < lines.length - 1 && <tspan font-size="0"> </tspan>}
          </tspan>
        ))}
      </text>
    </g>
  );
}

/** Lines below each other, with their middle at the centre. */
function linesOf(texts: readonly string[]): readonly Line[] {
  const first = HALF_LETTER - ((texts.length - 1) * LINE_HEIGHT) / 2;
  return texts.map((text, index) => ({
    text,
    width: textWidth(text, LETTERS),
    baseline: first + index * LINE_HEIGHT,
  }));
}

interface PocketProps {
  felt: Felt;
  pocket: TrackPocket;
  place: string;
  tabIndex: number;
  onFocus: () => void;
  covered: ReadonlySignal<ReadonlySet<string>>;
  size: number;
}

function Pocket({ felt, pocket, place, tabIndex, onFocus, covered, size }: PocketProps) {
  const { number, path, x, y } = pocket;
  const isCovered = useComputed(() => covered.value.has(number));
  const lit = useComputed(() => felt.litNumbers.value.has(number));
  const colour = colourOf(number).slice("COLOUR_".length).toLowerCase();
  const button = callBetButton(felt, place);
  return (
    // biome-ignore lint/a11y/useSemanticElements: HTML buttons cannot be drawn within a picture
    <g
      class={`track-pocket ${colour}${lit.value ? " lit" : ""}`}
      role="button"
      data-number={number}
      {...button}
      tabindex={tabIndex}
      onFocus={() => {
        onFocus();
        button.onFocus();
      }}
      onClick={() => felt.placeChip(place)}
    >
      <path d={path} />
      {isCovered.value && <circle class="track-covered" cx={x} cy={y} r={size * 0.88} data-covered={number} />}
      <text x={x} y={y} dy="0.35em" font-size={size}>
        {number}
      </text>
    </g>
  );
}

/** The numbers with bets of the player's: on a phone the board is not visible beside the racetrack. */
function coveredNumbers(felt: Felt): ReadonlySet<string> {
  const places = [...felt.countedBets.value.keys(), ...felt.slip.pending.value.keys()];
  const numbers = places.map((place) => felt.places.get(place)?.numbers ?? []);
  return new Set(numbers.filter(({ length }) => length <= COVERS_MOST).flat());
}

/** The properties that every call bet's button has: its accessible name, and pointing at it. */
function callBetButton(felt: Felt, place: string) {
  const bet = felt.callBets.get(place);
  const label = bet && callBetLabel(bet, felt.places, felt.chosenChip.value.value, felt.table.mode.value);
  const point = () => {
    felt.pointedPlace.value = place;
  };
  const away = () => {
    if (felt.pointedPlace.value === place) felt.pointedPlace.value = null;
  };
  return {
    "aria-label": label,
    "aria-disabled": !felt.bettable.value,
    "data-call": place,
    "data-testid": `call-${place}`,
    onPointerEnter: point,
    onPointerLeave: away,
    onFocus: point,
    onBlur: away,
  };
}
