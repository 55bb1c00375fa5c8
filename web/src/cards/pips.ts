// Where the pips of a card lie on its face, which is 100 wide and 140 high.
import type { Rank } from "./card_names";

export interface Pip {
  x: number;
  y: number;
  /** Points to the other player. */
  upsideDown: boolean;
}

const LEFT = 33;
const MIDDLE = 50;
const RIGHT = 67;
const TOP = 27;
const HEIGHT = 140;
const CENTRE = HEIGHT / 2;
// Of four pips in a column the inner two, and of three in the middle column the outer one.
const INNER = 55.7;
const BETWEEN = 41.3;
const UPPER_THIRD = 48.5;

/** One pip above the middle stands for two: the other lies below, upside down. */
type Above = readonly [x: number, y: number];

const PAIRS: Readonly<Partial<Record<Rank, readonly Above[]>>> = {
  "2": [[MIDDLE, TOP]],
  "3": [[MIDDLE, TOP]],
  "4": [
    [LEFT, TOP],
    [RIGHT, TOP],
  ],
  "5": [
    [LEFT, TOP],
    [RIGHT, TOP],
  ],
  "6": [
    [LEFT, TOP],
    [RIGHT, TOP],
  ],
  "7": [
    [LEFT, TOP],
    [RIGHT, TOP],
  ],
  "8": [
    [LEFT, TOP],
    [RIGHT, TOP],
    [MIDDLE, UPPER_THIRD],
  ],
  "9": [
    [LEFT, TOP],
    [RIGHT, TOP],
    [LEFT, INNER],
    [RIGHT, INNER],
  ],
  T: [
    [LEFT, TOP],
    [RIGHT, TOP],
    [LEFT, INNER],
    [RIGHT, INNER],
    [MIDDLE, BETWEEN],
  ],
};

/** Pips without a counterpart below. */
const SINGLE: Readonly<Partial<Record<Rank, readonly Above[]>>> = {
  A: [[MIDDLE, CENTRE]],
  "3": [[MIDDLE, CENTRE]],
  "5": [[MIDDLE, CENTRE]],
  "6": [
    [LEFT, CENTRE],
    [RIGHT, CENTRE],
  ],
  "7": [
    [LEFT, CENTRE],
    [RIGHT, CENTRE],
    [MIDDLE, UPPER_THIRD],
  ],
  "8": [
    [LEFT, CENTRE],
    [RIGHT, CENTRE],
  ],
  "9": [[MIDDLE, CENTRE]],
};

/** The pips of a card, as many as its rank says; none on a court card. */
export function pipsOf(rank: Rank): readonly Pip[] {
  const pairs = (PAIRS[rank] ?? []).flatMap(([x, y]) => [
    { x, y, upsideDown: false },
    { x, y: HEIGHT - y, upsideDown: true },
  ]);
  return [...pairs, ...(SINGLE[rank] ?? []).map(([x, y]) => ({ x, y, upsideDown: false }))];
}
