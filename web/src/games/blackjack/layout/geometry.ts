// Where everything lies on a semicircular table: the bank and the shoe at its straight side, the places along the curve,
// and the insurance area between them.

export interface Point {
  x: number;
  y: number;
}

export interface TableGeometry {
  width: number;
  height: number;
  /** The middle of each place's circle, from the first. */
  places: readonly Point[];
  /** The radius of the circles. */
  circle: number;
  /** The width of a player's card, and of the bank's. */
  card: number;
  bankCard: number;
  /** The middle of the bank's cards. */
  bank: Point;
  shoe: Point;
  /** The insurance area: its curve, left to right, and its thickness. */
  band: { from: Point; over: Point; to: Point; thickness: number };
  /** The middle of the plaque with the result. */
  plaque: Point;
  /** Places are too small for cards that can be read: the player's own hands lie elsewhere, if there is room. */
  smallCards: boolean;
}

// On a phone circles are a finger wide.
const NARROW = 560;
const LEAST_CIRCLE = 18;
// Cards narrower than this are hard to read.
const SMALL_CARD = 40;
// The part of the felt's height that is round (felt_table.css), and how far apart its outer places are.
const FELT_ROUND = 0.62;
const SPREAD = 0.94;

export function tableGeometry(width: number, height: number, places: number): TableGeometry {
  const narrow = width < NARROW;
  const room = width / Math.max(places, 3);
  const bankCard = clamp(Math.min(height * 0.165, width * 0.13), 34, 84);
  const card = clamp(Math.min(room * 0.42, height * 0.155), narrow ? 22 : 30, places <= 3 ? 96 : 78);
  const circle = clamp(Math.min(room * 0.36, height * 0.075), LEAST_CIRCLE, 38);
  const bank = { x: width / 2, y: bankCard * 0.7 + (narrow ? 10 : 14) };
  const arc = Array.from({ length: places }, (_, index) => placeAt(index, places, width, height, circle));
  const top = bank.y + bankCard * 0.7;
  const band = {
    from: { x: width * 0.16, y: top + height * 0.03 },
    over: { x: width / 2, y: top + height * 0.27 },
    to: { x: width * 0.84, y: top + height * 0.03 },
    thickness: clamp(height * 0.055, 17, 34),
  };
  return {
    width,
    height,
    places: arc,
    plaque: { x: width / 2, y: curvePoint(band.from, band.over, band.to, 0.5).y },
    smallCards: card < SMALL_CARD,
    circle,
    card,
    bankCard,
    bank,
    shoe: { x: width - Math.max(34, bankCard * 0.95), y: bankCard * 0.72 },
    band,
  };
}

/** Whether there is room for the rules on the cloth. */
export function showsRules(height: number): boolean {
  return height > 330;
}

/** Along an ellipse within the felt's own: the outer places lie nearer to the bank. */
function placeAt(index: number, places: number, width: number, height: number, circle: number): Point {
  const share =
    places === 1 ? 0 : ((2 * (index + 0.5)) / places - 1) * (places <= 3 && width >= NARROW ? 0.62 : SPREAD);
  const straight = height * (1 - FELT_ROUND);
  const across = width / 2 - circle - (width < NARROW ? 8 : 22);
  // The name of the player's own place hangs below its circle.
  const down = height - straight - circle - (height > 400 ? 24 : 15);
  return { x: width / 2 + share * across, y: straight + down * Math.sqrt(1 - share ** 2) };
}

/** Where an amount lies in the insurance area, above a place. */
export function insuranceSpot(geometry: TableGeometry, place: number): Point {
  const { band, places, width } = geometry;
  const at = places[place - 1] ?? { x: width / 2, y: 0 };
  const share = clamp((at.x - band.from.x) / (band.to.x - band.from.x), 0.06, 0.94);
  return curvePoint(band.from, band.over, band.to, share);
}

/** A point of a quadratic curve. */
export function curvePoint(from: Point, over: Point, to: Point, share: number): Point {
  const [start, middle, end] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
  return {
    x: start * from.x + middle * over.x + end * to.x,
    y: start * from.y + middle * over.y + end * to.y,
  };
}

/** How the cards of a hand overlap: how far each lies to the right of the one before, in card widths. */
export function overlap(cards: number): number {
  return cards <= 2 ? 0.42 : cards <= 4 ? 0.36 : 1.1 / (cards - 1);
}

/** In how many rows hands of so many cards lie side by side, with cards of this width; 0 if one is too wide for any row. */
export function handsRows(hands: readonly number[], card: number, gap: number, width: number): number {
  let rows = 1;
  let taken = -gap;
  for (const cards of hands) {
    const wide = handWidth(cards, card);
    if (wide > width) return 0;
    if (taken + gap + wide > width) {
      rows += 1;
      taken = -gap;
    }
    taken += gap + wide;
  }
  return rows;
}

/** How wide a hand is: a second card is sure to come. */
function handWidth(cards: number, card: number): number {
  return card * (1 + overlap(cards) * Math.max(1, cards - 1));
}

/** How wide the cards of a place's hands are: several hands lie side by side in the room of one place. */
export function handCardWidth(card: number, room: number, hands: readonly number[]): number {
  const widths = hands.reduce((all, cards) => all + 1 + overlap(cards) * Math.max(0, cards - 1) + 0.14, 0);
  return Math.max(16, Math.min(card, room / Math.max(widths, 1)));
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
