// The geometry of the racetrack: the wheel's numbers in an oval ring, and within it the areas of the series.
import type { CallBet, Layout } from "../layout/messages";

export interface Point {
  x: number;
  y: number;
}

/** A place: where its text stands, and its outline. */
interface Shape extends Point {
  outline: readonly Point[];
  path: string;
}

export interface TrackPocket extends Shape {
  number: string;
}

export interface TrackArea extends Shape {
  place: string;
}

export interface RacetrackGeometry {
  pockets: readonly TrackPocket[];
  areas: readonly TrackArea[];
}

// The straight pieces per pocket that make up a curve.
const PIECES = 6;

/** `band` is the breadth of the ring. An oval taller than wide stands upright, with the zero on top. */
export function racetrackGeometry(
  layout: Pick<Layout, "pockets" | "places" | "call_bets">,
  width: number,
  height: number,
  band: number,
): RacetrackGeometry {
  const oval = new Oval(Math.max(width, height), Math.min(width, height), band, height > width);
  const count = layout.pockets.length;
  const step = oval.around / count;
  const start = (index: number) => (index - 0.5) * step;
  const pockets = layout.pockets.map(({ number }, index): TrackPocket => {
    const outer = oval.arc(start(index), start(index + 1), band / 2, PIECES);
    const inner = oval.arc(start(index), start(index + 1), -band / 2, PIECES);
    const outline = [...outer, ...inner.reverse()];
    return { number, outline, path: closed(outline), ...oval.at(index * step, 0) };
  });
  const areas = layout.call_bets
    .filter(({ place }) => SERIES.has(place))
    .map((bet): TrackArea => {
      const covered = callBetNumbers(bet, layout);
      const runs = arcs(layout.pockets.map(({ number }) => covered.has(number)));
      const outline = runs.flatMap(([from, until]) =>
        oval.arc(start(from), start(until), -band / 2, PIECES * (until - from)),
      );
      return { place: bet.place, outline, path: closed(outline), ...centre(outline) };
    });
  return { pockets, areas };
}

const SERIES: ReadonlySet<string> = new Set(["voisins", "tiers", "orphelins"]);

export function callBetNumbers(bet: CallBet, layout: Pick<Layout, "places">): ReadonlySet<string> {
  const places = new Set(bet.components.map(({ place }) => place));
  return new Set(layout.places.filter(({ place }) => places.has(place)).flatMap(({ numbers }) => numbers));
}

/** The runs of covered pockets round the wheel; `until` may exceed the last pocket. */
function arcs(covered: readonly boolean[]): [from: number, until: number][] {
  const count = covered.length;
  const found: [number, number][] = [];
  for (let from = 0; from < count; from += 1) {
    if (!covered[from] || covered[(from + count - 1) % count]) continue;
    let until = from + 1;
    while (covered[until % count]) until += 1;
    found.push([from, until]);
  }
  return found;
}

class Oval {
  readonly around: number;
  private readonly straight: number;
  private readonly radius: number;

  constructor(
    private readonly length: number,
    private readonly breadth: number,
    band: number,
    private readonly upright: boolean,
  ) {
    this.radius = (breadth - band) / 2;
    this.straight = length - breadth;
    this.around = 2 * this.straight + 2 * Math.PI * this.radius;
  }

  arc(from: number, until: number, offset: number, pieces: number): Point[] {
    return Array.from({ length: pieces + 1 }, (_, n) => this.at(from + ((until - from) * n) / pieces, offset));
  }

  /** The point at a distance along the middle of the ring, clockwise from the zero's end; `offset` outwards. */
  at(along: number, offset: number): Point {
    const { radius, straight, around, length, breadth } = this;
    const quarter = (Math.PI * radius) / 2;
    let rest = ((along % around) + around) % around;
    const [right, left, centre] = [length - breadth / 2, breadth / 2, breadth / 2];
    const on = (cx: number, angle: number) =>
      this.turned(cx + (radius + offset) * Math.cos(angle), centre + (radius + offset) * Math.sin(angle));
    if (rest < quarter) return on(right, rest / radius);
    rest -= quarter;
    if (rest < straight) return this.turned(right - rest, centre + radius + offset);
    rest -= straight;
    if (rest < 2 * quarter) return on(left, Math.PI / 2 + rest / radius);
    rest -= 2 * quarter;
    if (rest < straight) return this.turned(left + rest, centre - radius - offset);
    rest -= straight;
    return on(right, 1.5 * Math.PI + rest / radius);
  }

  /** Upright, the right end is on top, and clockwise stays clockwise. */
  private turned(x: number, y: number): Point {
    return this.upright ? { x: y, y: this.length - x } : { x, y };
  }
}

function closed(points: readonly Point[]): string {
  return `M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z`;
}

/** The centroid of a polygon. */
function centre(points: readonly Point[]): Point {
  let [area, x, y] = [0, 0, 0];
  points.forEach((one, index) => {
    const next = points[(index + 1) % points.length] ?? one;
    const cross = one.x * next.y - next.x * one.y;
    area += cross;
    x += (one.x + next.x) * cross;
    y += (one.y + next.y) * cross;
  });
  return { x: x / (3 * area), y: y / (3 * area) };
}
