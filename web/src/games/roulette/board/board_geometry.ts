// The geometry of a board: the spot of every place, where its chips lie, and which place a pointer means.
//
// Coordinates on the cloth are `u`, along the numbers from the zero to the columns' boxes, and `v`, across them, outwards
// from the numbers' outer edge, beyond which the dozens and the simple chances are. A wide board runs `u` to the right with
// 3 above 1; a tall one runs it downwards with 1 left of 3.
import type { Layout, Place } from "../layout/messages";
import { chipRadius, clampToBox } from "./chip_positions";
import type { Measure, Rect } from "./measure";

export interface Spot {
  place: string;
  kind: Place["kind"];
  numbers: readonly string[];
  /** Where its chips lie. */
  x: number;
  y: number;
  /** The area whose distance from a pointer counts. */
  core: Rect;
}

/** A box of the cloth: a number, or words. */
export interface Cell extends Rect {
  place: string;
}

export interface BoardGeometry {
  width: number;
  height: number;
  cells: ReadonlyMap<string, Cell>;
  spots: readonly Spot[];
  spotOf: ReadonlyMap<string, Spot>;
}

interface Area {
  u: number;
  v: number;
  /** Half its extent. */
  du: number;
  dv: number;
}

const STREETS = 12;
// How far outside the board a pointer may be and still mean its outermost places.
const REACH = 0.35;
// Corners and edges are the smallest targets, and get a little more room than their neighbours.
const FAVOUR = 0.07;
const SIMPLE: ReadonlySet<string> = new Set([
  "KIND_EVEN",
  "KIND_ODD",
  "KIND_LOW",
  "KIND_HIGH",
  "KIND_RED",
  "KIND_BLACK",
]);
const EDGE_BOXES: Readonly<Record<string, number>> = { low: 0, even: 1, red: 2, black: 3, odd: 4, high: 5 };

/** `radius` is the room for a chip: a little more than its own, so that it touches no line. */
export function boardGeometry(
  layout: Pick<Layout, "places">,
  measure: Measure,
  radius = chipRadius(measure) * 1.12,
): BoardGeometry {
  const zeros = layout.places.some(({ place }) => place === "00") ? 2 : 1;
  const cloth = new Cloth(measure, zeros);
  const cells = new Map<string, Cell>();
  for (const { place } of layout.places) {
    const area = cloth.cell(place);
    if (area) cells.set(place, { place, ...cloth.drawn(area) });
  }
  const spots = layout.places.map((place): Spot => {
    const area = cloth.spot(place);
    const chipPlace = cloth.drawn({ ...cloth.chipsAt(place.kind, area), du: 0, dv: 0 });
    const cell = cells.get(place.place);
    const chips = cell && isBox(place.place) ? clampToBox(cell, chipPlace, radius) : chipPlace;
    return {
      place: place.place,
      kind: place.kind,
      numbers: place.numbers,
      x: chips.x,
      y: chips.y,
      core: cloth.drawn(area),
    };
  });
  return { ...cloth.size, cells, spots, spotOf: new Map(spots.map((spot) => [spot.place, spot])) };
}

/** A box with words instead of a number. */
export function isBox(place: string): boolean {
  return !/^\d/.test(place);
}

/** The place nearest to a pointer; none outside the board. */
export function spotAt(board: BoardGeometry, x: number, y: number, measure: Measure): Spot | null {
  const reach = REACH * Math.min(measure.along, measure.across);
  if (x < -reach || y < -reach || x > board.width + reach || y > board.height + reach) return null;
  const favour = FAVOUR * Math.min(measure.along, measure.across);
  let nearest: Spot | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const spot of board.spots) {
    const distance = distanceTo(spot.core, x, y) - (isPoint(spot.core) ? favour : 0);
    if (distance < least) {
      least = distance;
      nearest = spot;
    }
  }
  const farthest = 0.6 * Math.max(measure.along, measure.across);
  return least <= farthest ? nearest : null;
}

function isPoint({ width, height }: Rect): boolean {
  return width === 0 && height === 0;
}

function distanceTo({ x, y, width, height }: Rect, px: number, py: number): number {
  return Math.hypot(Math.max(x - px, 0, px - x - width), Math.max(y - py, 0, py - y - height));
}

class Cloth {
  constructor(
    private readonly m: Measure,
    private readonly zeros: 1 | 2,
  ) {}

  get size(): { width: number; height: number } {
    const { along, across, band, zero, column, shape } = this.m;
    const length = zero + STREETS * along + column;
    const breadth = 3 * across + 2 * band;
    return shape === "wide" ? { width: length, height: breadth } : { width: breadth, height: length };
  }

  /** From cloth coordinates to those of the drawing. */
  drawn({ u, v, du, dv }: Area): Rect {
    const { shape, zero, across, band } = this.m;
    if (shape === "wide") {
      return { x: zero + u - du, y: 3 * across - v - dv, width: 2 * du, height: 2 * dv };
    }
    return { x: 2 * band + v - dv, y: zero + u - du, width: 2 * dv, height: 2 * du };
  }

  /** The box that is drawn for a place; places between boxes have none. */
  cell(place: string): Area | null {
    const { along, across, band, zero, column } = this.m;
    if (place === "0" || place === "00") {
      const whole = (3 * across) / this.zeros;
      const from = place === "00" ? whole : 0;
      return { u: -zero / 2, v: from + whole / 2, du: zero / 2, dv: whole / 2 };
    }
    if (/^\d+$/.test(place)) {
      const { street, row } = position(place);
      return { u: (street + 0.5) * along, v: (row + 0.5) * across, du: along / 2, dv: across / 2 };
    }
    const [name, no] = place.split(/-(?=\d$)/);
    if (name === "dozen") return { u: (Number(no) * 4 - 2) * along, v: -band / 2, du: 2 * along, dv: band / 2 };
    if (name === "column") {
      return { u: STREETS * along + column / 2, v: (Number(no) - 0.5) * across, du: column / 2, dv: across / 2 };
    }
    const box = EDGE_BOXES[place];
    if (box !== undefined) return { u: (box * 2 + 1) * along, v: -1.5 * band, du: along, dv: band / 2 };
    return null;
  }

  spot({ place, kind, numbers }: Place): Area {
    const { along, across, band, column, zero } = this.m;
    const cell = this.cell(place);
    // Numbers leave half of their breadth to the chips on their edges, boxes with words keep most of it.
    if (cell && kind === "KIND_STRAIGHT") {
      const inZero = place === "0" || place === "00";
      // A zero has room, and leaves it to the places on its border.
      if (inZero) return { ...cell, u: cell.u - zero * 0.08, du: zero * 0.16, dv: cell.dv - across * 0.24 };
      return { ...cell, du: cell.du * 0.36, dv: cell.dv * 0.36 };
    }
    if (cell && kind === "KIND_COLUMN") return { ...cell, du: cell.du * 0.6, dv: cell.dv * 0.64 };
    if (cell) return { ...cell, du: cell.du - along * 0.26, dv: cell.dv * 0.45 };
    if (kind === "KIND_DOUBLE_DOZEN") {
      const border = place.endsWith("1-2") ? 4 : 8;
      return { u: border * along, v: -band / 2, du: 0, dv: band * 0.2 };
    }
    if (kind === "KIND_DOUBLE_COLUMN") {
      const border = place.endsWith("1-2") ? 1 : 2;
      return { u: STREETS * along + column / 2, v: border * across, du: column * 0.2, dv: 0 };
    }
    if (numbers.includes("0") || numbers.includes("00")) return this.besideZero(place, numbers, zero);
    return this.amongNumbers(numbers);
  }

  /** Chips in boxes with words lie aside, so that the words stay readable. */
  chipsAt(kind: Place["kind"], { u, v }: Area): { u: number; v: number } {
    const { shape, along, across, band, column } = this.m;
    const wide = shape === "wide";
    if (kind === "KIND_DOZEN") return { u: u + along * 1.45, v };
    if (kind === "KIND_COLUMN") return wide ? { u: u + column * 0.26, v } : { u, v: v - across * 0.28 };
    if (!SIMPLE.has(kind)) return { u, v };
    // Below and to the right of the words, on a wide board and on a tall one.
    return wide ? { u: u + along * 0.7, v: v - band * 0.3 } : { u: u + along * 0.42, v: v + band * 0.32 };
  }

  private amongNumbers(numbers: readonly string[]): Area {
    const { along, across } = this.m;
    const at = numbers.map(position);
    const streets = at.map(({ street }) => street);
    const rows = at.map(({ row }) => row);
    const [first, last] = [Math.min(...streets), Math.max(...streets)];
    const [lowest, highest] = [Math.min(...rows), Math.max(...rows)];
    const u = ((first + last + 1) / 2) * along;
    // Streets and lines lie on the outer edge, everything else in the middle of its numbers.
    const outer = highest - lowest === 2;
    const v = outer ? 0 : ((lowest + highest + 1) / 2) * across;
    const oneStreet = first === last;
    const oneRow = lowest === highest;
    return {
      u,
      v,
      du: oneStreet ? along * 0.16 : 0,
      dv: oneRow ? across * 0.16 : 0,
    };
  }

  private besideZero(place: string, numbers: readonly string[], zero: number): Area {
    const { across } = this.m;
    if (place === "0-00") return { u: -zero / 2, v: 1.5 * across, du: zero * 0.2, dv: 0 };
    const rows = numbers.filter((number) => number !== "0" && number !== "00").map((number) => position(number).row);
    const [lowest, highest] = [Math.min(...rows), Math.max(...rows)];
    // 0-1-2-3 on the outer edge, where the zero meets the first street.
    if (rows.length === 3) return { u: 0, v: 0, du: 0, dv: 0 };
    let v = ((lowest + highest + 1) / 2) * across;
    let dv = rows.length === 1 ? across * 0.16 : 0;
    // Both zeros touch the 2, each at its own half of it; all three meet in the middle.
    if (this.zeros === 2 && lowest === 1 && highest === 1) {
      if (numbers.length === 2) v += (numbers.includes("00") ? 0.25 : -0.25) * across;
      dv = 0;
    }
    return { u: 0, v, du: 0, dv };
  }
}

function position(number: string): { street: number; row: number } {
  const index = Number(number) - 1;
  return { street: Math.floor(index / 3), row: index % 3 };
}
