// Where everything lies on an oval table of 2 to 10 seats: along its rim the seats, before each its bet, in the middle the
// common cards and the pots. The player's own seat is at the bottom; seats follow clockwise, to the left.

export interface Point {
  x: number;
  y: number;
}

export interface SeatSpot {
  /** The middle of its plate. */
  plate: Point;
  /** Where its bet lies, and the dealer's button. */
  bet: Point;
  marker: Point;
}

export interface TableGeometry {
  width: number;
  height: number;
  /** The felt within its rim. */
  felt: { x: number; y: number; width: number; height: number; round: number };
  /** By seat number less one. */
  seats: readonly SeatSpot[];
  plate: { width: number; height: number };
  /** The widths of cards: the player's own, those of others, the common ones. */
  ownCard: number;
  card: number;
  boardCard: number;
  board: Point;
  pots: Point;
  chip: number;
  /** Taller than wide, as on a phone that is held upright. */
  upright: boolean;
}

const CARD_RATIO = 1.4;
// Nothing can be drawn in less.
const LEAST_ROOM = 200;
// Narrower rooms are those of phones that are held upright.
const NARROW = 480;
// From so many seats on, a phone has plates to the right and the left of everything.
const MANY_SEATS = 7;
// How far rows of plates lie apart at least, in plates.
const APART = 1.12;
/** How much larger than backs cards are that are turned up. */
export const SHOWN = 1.25;
// How much of a card its plate covers, in pixels (seats/seat.css).
const PLATE_COVERS = 10;
// The common cards with the room between them, in cards, and how far they lie from plates.
const BOARD_CARDS = 5.4;
const BOARD_APART = 20;
// How far the common cards may be moved out of the way of plates.
const FARTHEST = 110;

/** `own` is the seat at the bottom; 0 for a spectator. `personal` is how many cards each player holds. */
export function tableGeometry(
  roomWidth: number,
  roomHeight: number,
  seats: number,
  own: number,
  personal: number,
): TableGeometry {
  const width = Math.max(roomWidth, LEAST_ROOM);
  const height = Math.max(roomHeight, LEAST_ROOM);
  const upright = width < NARROW || height > width * 0.92;
  const small = Math.min(width, height) < 430;
  const plate = upright
    ? { width: clamp(width * (seats > MANY_SEATS ? 0.236 : 0.268), 78, 136), height: small ? 37 : 46 }
    : { width: clamp(width * 0.115, 86, 148), height: clamp(height * 0.085, 34, 52) };
  const ownCard = clamp(Math.min(height * 0.135, width * (upright ? 0.15 : 0.075)), 38, 92);
  const card = clamp(Math.min(height * 0.07, width * (upright ? 0.078 : 0.045)), 22, 52);
  const wide = clamp(Math.min(height * 0.13, (upright ? width - 2 * plate.width * 0.62 : width * 0.46) / 5.9), 28, 86);
  // Cards that are turned up are larger.
  const above = card * SHOWN * CARD_RATIO - PLATE_COVERS + plate.height / 2;
  // The seconds of a turn hang below the plate.
  const below = plate.height / 2 + 17;
  // The middles of the plates lie on this oval; the own cards stand above the own plate.
  const [left, top] = [plate.width / 2 + 4, above];
  const track = { x: left, y: top, width: width - 2 * left, height: height - top - below };
  const inset = upright ? plate.width * 0.22 : plate.height * 0.35;
  const felt = {
    x: track.x - inset,
    y: track.y - inset * 0.4,
    width: track.width + 2 * inset,
    height: track.height + inset * 0.8,
    round: 0,
  };
  felt.round = Math.min(felt.width, felt.height) / 2;
  const first = own || 1;
  const plates = Array.from({ length: seats }, (_, index) => {
    const clockwise = (index + 1 - first + seats) % seats;
    return upright && seats > MANY_SEATS
      ? onSides(track, clockwise, seats, plate.height)
      : alongStadium(track, clockwise / seats);
  });
  const wanted = track.y + track.height * (upright ? 0.42 : 0.43);
  const taken = upright ? plates.map(({ y }) => ({ from: y - above, to: y + plate.height / 2 })) : [];
  const free = freeHeight(wanted, wide * CARD_RATIO, taken);
  // Where there is no room below and above plates, the common cards lie between them.
  const between = (width - 2 * plate.width - BOARD_APART) / BOARD_CARDS;
  const board = free === null ? Math.min(wide, between) : wide;
  const middle = { x: width / 2, y: free ?? wanted };
  const spots = plates.map((at, index) =>
    seatSpot(at, middle, { plate, card, ownCard, isOwn: index + 1 === own, upright, bottom: track.y + track.height }),
  );
  return {
    width,
    height,
    felt,
    seats: spots,
    plate,
    ownCard: personal > 2 ? ownCard * 0.82 : ownCard,
    card: personal > 2 ? card * 0.86 : card,
    boardCard: board,
    board: middle,
    pots: { x: middle.x, y: middle.y - (board * CARD_RATIO) / 2 - 20 },
    chip: clamp(Math.min(width, height) * 0.045, 16, 30),
    upright,
  };
}

/** The height nearest to the wanted one at which something so tall lies beside none of the ranges; null if none is near. */
export function freeHeight(
  wanted: number,
  tall: number,
  taken: readonly { from: number; to: number }[],
): number | null {
  const isFree = (y: number) => taken.every(({ from, to }) => y + tall / 2 <= from || y - tall / 2 >= to);
  for (let off = 0; off < FARTHEST; off += 2) {
    if (isFree(wanted + off)) return wanted + off;
    if (isFree(wanted - off)) return wanted - off;
  }
  return null;
}

interface Sizes {
  plate: { width: number; height: number };
  card: number;
  ownCard: number;
  isOwn: boolean;
  upright: boolean;
  /** The height of the lowest plates. */
  bottom: number;
}

/** The bet lies between the plate and the middle, or below the plate, clear of the seat's cards; the marker beside it. */
function seatSpot(plate: Point, middle: Point, sizes: Sizes): SeatSpot {
  const { width, height } = sizes.plate;
  const side = Math.sign(middle.x - plate.x);
  const ownCards = sizes.bottom - sizes.ownCard * CARD_RATIO - height;
  if (sizes.upright && Math.abs(middle.x - plate.x) > width / 2 && plate.y < ownCards) {
    // Below the plate and at its corner, where neither the common cards lie nor those of the next seat.
    const bet = { x: plate.x + side * width * 0.3, y: plate.y + height / 2 + 11 };
    return { plate, bet, marker: { x: plate.x + side * (width / 2 - 2), y: plate.y - height / 2 - 5 } };
  }
  const away = { x: middle.x - plate.x, y: middle.y - plate.y };
  const far = Math.hypot(away.x, away.y) || 1;
  const unit = { x: away.x / far, y: away.y / far };
  const cards = sizes.isOwn ? sizes.ownCard * CARD_RATIO : sizes.card * CARD_RATIO * 0.6;
  // Cards stand above the plate: a bet that goes upwards has to pass them.
  const up = unit.y < -0.3 ? cards : 0;
  const clear = {
    x: Math.abs(unit.x) * (width / 2 + 26),
    y: Math.abs(unit.y) * (height / 2 + 27 + up),
  };
  const reach = Math.min(far * 0.62, Math.hypot(clear.x, clear.y));
  const bet = { x: plate.x + unit.x * reach, y: plate.y + unit.y * reach };
  if (sizes.isOwn) return { plate, bet, marker: { x: plate.x - width / 2 - 17, y: plate.y } };
  const across = { x: -unit.y, y: unit.x };
  const aside = height * 0.5 + 18;
  return { plate, bet, marker: { x: bet.x + across.x * aside, y: bet.y + across.y * aside } };
}

type Box = { x: number; y: number; width: number; height: number };

/** Where many plates lie on a phone: the own one below, one above if they are even, and the others at the sides. */
function onSides(box: Box, clockwise: number, seats: number, tall: number): Point {
  const rows = Math.floor((seats - 1) / 2);
  const above = seats % 2 === 0;
  const middle = box.x + box.width / 2;
  if (clockwise === 0) return { x: middle, y: box.y + box.height };
  if (above && clockwise === seats / 2) return { x: middle, y: box.y };
  const left = clockwise <= rows;
  // From the lowest row, 0, to the highest, 1.
  const height = ((left ? clockwise : seats - clockwise) - 1) / (rows - 1);
  const lowest = box.y + box.height - tall * APART;
  const highest = box.y + (above ? tall * APART : 0);
  // The outer rows lie a little further in, as on an oval.
  const inwards = box.width * 0.07 * (2 * height - 1) ** 2;
  return { x: left ? box.x + inwards : box.x + box.width - inwards, y: lowest + (highest - lowest) * height };
}

/** A point on the outline of a stadium, from the middle of its lower side clockwise; `share` counts once around. */
export function alongStadium(box: Box, share: number): Point {
  const radius = Math.min(box.width, box.height) / 2;
  const straightX = box.width - 2 * radius;
  const straightY = box.height - 2 * radius;
  const quarter = (Math.PI * radius) / 2;
  const right = box.x + box.width;
  const bottom = box.y + box.height;
  // The parts of the outline in their order: how long each is, and the point so far along it.
  const parts: readonly [number, (along: number) => Point][] = [
    [straightX / 2, (s) => ({ x: box.x + box.width / 2 - s, y: bottom })],
    [quarter, (s) => onArc(box.x + radius, bottom - radius, radius, Math.PI / 2 + s / radius)],
    [straightY, (s) => ({ x: box.x, y: bottom - radius - s })],
    [quarter, (s) => onArc(box.x + radius, box.y + radius, radius, Math.PI + s / radius)],
    [straightX, (s) => ({ x: box.x + radius + s, y: box.y })],
    [quarter, (s) => onArc(right - radius, box.y + radius, radius, 1.5 * Math.PI + s / radius)],
    [straightY, (s) => ({ x: right, y: box.y + radius + s })],
    [quarter, (s) => onArc(right - radius, bottom - radius, radius, s / radius)],
    [straightX / 2, (s) => ({ x: right - radius - s, y: bottom })],
  ];
  const whole = parts.reduce((all, [length]) => all + length, 0);
  let left = (((share % 1) + 1) % 1) * whole;
  for (const [length, at] of parts) {
    if (left <= length) return at(left);
    left -= length;
  }
  return { x: box.x + box.width / 2, y: bottom };
}

function onArc(x: number, y: number, radius: number, angle: number): Point {
  return { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
