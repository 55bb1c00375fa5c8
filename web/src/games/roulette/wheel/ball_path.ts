// The positions of wheel and ball during a spin: functions of time, derived from the round and the drawn number alone.
//
// The number is drawn before the ball is thrown, so its path is computed backwards: from the pocket over the hops to the
// deflector that it strikes, and from there to the throw. The hops depend on the round's id only: not on the number, not on
// anybody's bets. Everybody at a table sees the same ones, and no number is passed more closely than another
// (903-B/2015:6.1.2). Angles are in radians, clockwise from the top; times in seconds.

/** Lengths, in radii of the bowl. */
export const TRACK = 0.874;
export const DEFLECTORS_AT = 0.762;
export const LANDING = 0.535;
export const POCKET = 0.468;
export const DEFLECTORS = 8;

/** Where the ball is. `height` is above the wheel, in the same unit as the radius. */
export interface BallAt {
  angle: number;
  radius: number;
  height: number;
}

/** From one landing to the next; `advance` in pockets of the turning wheel. */
interface Hop {
  advance: number;
  lasts: number;
  height: number;
}

export interface BallPath {
  readonly duration: number;
  /** It leaves the rim; strikes a deflector; lands several times; and lies in its pocket, rattling. */
  readonly leavesRim: number;
  readonly strikes: number;
  readonly landings: readonly number[];
  /** The wheel's angle. It turns against the ball, and goes on slowly after the spin. */
  wheel(s: number): number;
  ball(s: number): BallAt;
}

/** The wheel between rounds: a turn in 26 seconds. */
export const IDLE_SPEED = (2 * Math.PI) / 26;
const PUSHED_SPEED = 2.3;
const PUSH_LASTS = 0.25;
const THROWN_SPEED = 12;
const DROPPING_SPEED = 3.4;
const RATTLE_LASTS = 0.4;
// The average speed that is left from the deflector to the wheel.
const FALLING_SPEED = 1.9;
const SHORTEST_FALL = 0.4;
const LONGEST_ROLL_DOWN = 1.2;
// However short a spin is, the ball rolls before it hops.
const MOST_FOR_HOPS = 0.42;
const TURN = 2 * Math.PI;

/** The middle of a pocket, relative to the wheel. */
export function pocketAngle(pocket: number, pockets: number): number {
  return (TURN * pocket) / pockets;
}

/** The ball's hops in a round, derived from its id only. */
export function hopsOf(key: string): readonly Hop[] {
  const random = randomFrom(`${key} hops`);
  const between = (least: number, most: number) => least + (most - least) * random();
  const hops: Hop[] = [];
  let height = between(0.075, 0.12);
  for (let left = 3 + Math.floor(random() * 3), first = true; left > 0; left -= 1, first = false) {
    // The first hop follows the ball's own speed, the others are as often backwards as forwards.
    const reach = height / 0.1;
    const advance = first ? between(2.5, 6.5) : between(-2.6, 2.6) * reach + Math.sign(random() - 0.5) * 0.5;
    hops.push({ advance, lasts: 0.95 * Math.sqrt(height), height });
    height *= between(0.42, 0.62);
  }
  return hops;
}

/** The whole path. `startAngle` is the wheel's angle at the throw, if the wheel is already visible. */
export function ballPath(
  key: string,
  pocket: number,
  pockets: number,
  duration: number,
  startAngle: number | null = null,
): BallPath {
  const random = randomFrom(key);
  const width = TURN / pockets;
  const hops = hopsOf(key);

  // The landings, counted back from the end.
  const wanted = hops.reduce((sum, hop) => sum + hop.lasts, RATTLE_LASTS);
  const pace = Math.min(1, (MOST_FOR_HOPS * duration) / wanted);
  const landings: number[] = [];
  let at = duration - wanted * pace;
  for (const hop of hops) {
    landings.push(at);
    at += hop.lasts * pace;
  }
  const settles = at;
  landings.push(settles);
  const lands = landings[0] ?? 0;

  // The wheel is pushed and slows down. From a visible start angle it converges to the path that everybody sees.
  const slows = 0.45 * duration;
  const turned = (s: number) =>
    IDLE_SPEED * s +
    (PUSHED_SPEED - IDLE_SPEED) * (slows * (1 - Math.exp(-s / slows)) - PUSH_LASTS * (1 - Math.exp(-s / PUSH_LASTS)));
  const begins = random() * TURN;
  const aside = startAngle === null ? 0 : turnBetween(startAngle - begins, -TURN / 4);
  const together = Math.max(0.5 * duration, lands - 0.8 * pace);
  const wheel = (s: number) => begins - turned(s) + aside * (1 - smooth(s / together));
  const wheelSpeed = (s: number) => (wheel(s + 0.001) - wheel(s - 0.001)) / 0.002;

  // The ball's angle relative to the pocket, at each landing.
  const resting = pocketAngle(pocket, pockets);
  const fromPocket: number[] = [0];
  for (const hop of [...hops].reverse()) fromPocket.unshift((fromPocket[0] ?? 0) - hop.advance * width);
  const firstHop = hops[0] as Hop;

  // A deflector from which the ball can fall to its first landing.
  const landingAngle = wheel(lands) + resting + (fromPocket[0] ?? 0);
  const spacing = TURN / DEFLECTORS;
  const deflector = Math.floor((landingAngle - SHORTEST_FALL) / spacing - 0.5) * spacing + spacing / 2;
  const falls = Math.min((landingAngle - deflector) / FALLING_SPEED, 0.3 * lands);
  const strikes = lands - falls;
  const leavesRim = strikes - Math.min(LONGEST_ROLL_DOWN, 0.4 * strikes);
  // Friction grows with the square of the speed.
  const friction = (1 / DROPPING_SPEED - 1 / THROWN_SPEED) / strikes;
  const rolled = (s: number) => Math.log(1 + THROWN_SPEED * friction * s) / friction;
  const landingSpeed = wheelSpeed(lands) + (firstHop.advance * width) / (firstHop.lasts * pace);

  const ball = (s: number): BallAt => {
    if (s < strikes) {
      const down = clamp((s - leavesRim) / (strikes - leavesRim));
      return {
        angle: deflector - rolled(strikes) + rolled(Math.max(0, s)),
        radius: TRACK - (TRACK - DEFLECTORS_AT) * down * down,
        height: 0,
      };
    }
    if (s < lands) {
      const u = (s - strikes) / falls;
      return {
        angle: hermite(u, deflector, DROPPING_SPEED * 0.6 * falls, landingAngle, landingSpeed * falls),
        radius: DEFLECTORS_AT - (DEFLECTORS_AT - LANDING) * (0.35 * u + 0.65 * u * u),
        height: 0.06 * 4 * u * (1 - u),
      };
    }
    const base = wheel(s) + resting;
    if (s >= settles) {
      // Rattles between its two separators, less and less.
      const u = clamp((s - settles) / (duration - settles));
      const side = Math.sign(hops.at(-1)?.advance ?? 1);
      const rattle = side * 0.22 * width * Math.sin(2 * TURN * u) * (1 - u) ** 2;
      return { angle: base + rattle, radius: POCKET, height: 0 };
    }
    let no = 0;
    while (s >= (landings[no + 1] ?? settles)) no += 1;
    const hop = hops[no] as Hop;
    const u = (s - (landings[no] ?? 0)) / (hop.lasts * pace);
    const arc = 4 * u * (1 - u);
    const inwards = LANDING - ((LANDING - POCKET) * (no + u)) / hops.length;
    return {
      angle: base + (fromPocket[no] ?? 0) + hop.advance * width * u,
      radius: inwards + 0.5 * hop.height * arc,
      height: hop.height * arc,
    };
  };
  return { duration, leavesRim, strikes, landings, wheel, ball };
}

/** Pseudo-random numbers from 0 to 1, derived from a text. */
function randomFrom(text: string): () => number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same direction, from `least` on. */
function turnBetween(angle: number, least: number): number {
  return angle - TURN * Math.floor((angle - least) / TURN);
}

function clamp(u: number): number {
  return Math.min(1, Math.max(0, u));
}

function smooth(u: number): number {
  const v = clamp(u);
  return v * v * (3 - 2 * v);
}

function hermite(u: number, from: number, leaving: number, to: number, arriving: number): number {
  const [u2, u3] = [u * u, u * u * u];
  return (2 * u3 - 3 * u2 + 1) * from + (u3 - 2 * u2 + u) * leaving + (3 * u2 - 2 * u3) * to + (u3 - u2) * arriving;
}
