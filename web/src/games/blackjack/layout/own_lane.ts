// Where the player's own hands lie, large, on a felt whose places have no room for cards that can be read: between the bank
// and the places, upon nothing else that has to be seen.
import { curvePoint, handsRows, insuranceSpot, type Point, showsRules, type TableGeometry } from "./geometry";

export interface OwnLane {
  /** The middle of its upper edge. */
  at: Point;
  width: number;
  /** The width of a card. */
  card: number;
  /** It lies over the insurance area, where the plaque would lie. */
  overBand: boolean;
}

/** What lies on the felt besides the player's own hands. */
export interface OnFelt {
  /** The places with other players' cards. */
  others: ReadonlySet<number>;
  /** The places with an insurance. */
  insured: ReadonlySet<number>;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

// The score above a hand.
const SCORE = 17;
const GAP = 6;
const LARGEST_CARD = 72;
// Smaller cards are no easier to read than those at the places.
const LEAST_CARD = 20;
// Cards that can be read well: the insurance area stays free if there is room for them below it.
const GOOD_CARD = 30;

/** The lane for hands of so many cards each; null if there is no room for larger cards than the places have. */
export function ownLane(geometry: TableGeometry, hands: readonly number[], on: OnFelt): OwnLane | null {
  if (!geometry.smallCards || hands.length === 0) return null;
  const boxes = obstacles(geometry, on);
  const below = roomiest(geometry, hands, boxes, belowBand(geometry) + SCORE);
  if (below && below.card >= GOOD_CARD) return { ...below, overBand: false };
  const over = isUpright(geometry) ? roomiest(geometry, hands, boxes, belowBank(geometry) + SCORE) : null;
  if (over && over.card > (below?.card ?? 0)) return { ...over, overBand: true };
  return below && { ...below, overBand: false };
}

/** Chips and decisions lie below the felt, and not beside it: the plaque can lie between them and the felt. */
export function isUpright({ width, height }: TableGeometry): boolean {
  return height > 0.8 * width;
}

/** The largest cards with which the hands fit into a box from this height on. */
function roomiest(
  { width, height }: TableGeometry,
  hands: readonly number[],
  boxes: readonly Box[],
  top: number,
): Omit<OwnLane, "overBand"> | null {
  const middle = width / 2;
  const bottoms = [...boxes.map((box) => box.top), height].filter((bottom) => bottom > top);
  const lanes = bottoms.map((bottom) => {
    const beside = boxes
      .filter((box) => box.top < bottom && box.bottom > top - SCORE)
      .map((box) => (box.left > middle ? box.left - middle : middle - box.right));
    return { bottom, width: 2 * Math.min(middle - 2 * GAP, ...beside.map((half) => half - GAP)) };
  });
  for (let card = LARGEST_CARD; card >= LEAST_CARD; card -= 1) {
    for (const lane of lanes) {
      const rows = handsRows(hands, card, GAP, lane.width);
      const tall = rows * 1.6 * card + (rows - 1) * (SCORE + GAP);
      if (rows > 0 && top + tall <= lane.bottom - GAP) return { at: { x: middle, y: top }, width: lane.width, card };
    }
  }
  return null;
}

function obstacles(geometry: TableGeometry, { others, insured }: OnFelt): Box[] {
  const { places, circle, card, width, band } = geometry;
  const half = (width / places.length) * 0.5;
  return [
    ...places.map(({ x, y }) => ({ left: x - circle, right: x + circle, top: y - circle, bottom: y + circle })),
    ...[...others].map((place) => {
      const { x, y } = places[place - 1] ?? { x: 0, y: 0 };
      const low = y - circle - 9;
      return { left: x - half, right: x + half, top: low - 1.5 * card - SCORE, bottom: low };
    }),
    ...[...insured].map((place) => {
      const { x, y } = insuranceSpot(geometry, place);
      return { left: x - half, right: x + half, top: y - band.thickness, bottom: y + band.thickness };
    }),
  ];
}

/** Below the score of the bank. */
function belowBank({ bank, bankCard }: TableGeometry): number {
  return bank.y + bankCard * 0.7 + SCORE * 0.8;
}

/** Below the insurance area, and the rules that are written under it. */
function belowBand({ band, height }: TableGeometry): number {
  return curvePoint(band.from, band.over, band.to, 0.5).y + band.thickness / 2 + (showsRules(height) ? 24 : 4);
}
