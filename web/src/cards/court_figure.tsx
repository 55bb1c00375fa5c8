// The figures of court cards, drawn with few shapes: the upper half, which stands on the card a second time upside down.
import type { Rank, Suit } from "./card_names";
import { SUIT_PATHS } from "./suits";

type Court = Extract<Rank, "J" | "Q" | "K">;

interface Props {
  rank: Court;
  suit: Suit;
}

// A robe from the shoulders to the middle of the card, and the collar above it.
const ROBE = "M25 70L25 62C26 55 35 51 43 49.5L57 49.5C65 51 74 55 75 62L75 70Z";
const COLLAR = "M41 49.5L50 59L59 49.5L56 47H44Z";
const FACE = "M42.5 33C42.5 27 57.5 27 57.5 33L57 40C56 46 53 48.5 50 48.5C47 48.5 44 46 43 40Z";
const EYES = "M45.6 36.8h2.6M51.8 36.8h2.6";
const MOUTH = "M48 43.7Q50 45 52 43.7";

// What tells the three apart: hair, what is worn on the head, and what is held.
const HAIR: Readonly<Record<Court, string>> = {
  J: "M41.5 42C39.5 36 40 29 44 27H56C60 29 60.5 36 58.5 42L56.5 41L56.8 33H43.2L43.5 41Z",
  Q: "M40 52C37.5 44 38 31 43 27.5H57C62 31 62.5 44 60 52C57.5 50 57 45 57 40L57 33H43L43 40C43 45 42.5 50 40 52Z",
  K: "M42 34L40.5 44C41 50 45 55.5 50 56C55 55.5 59 50 59.5 44L58 34L57 41C55.5 44 54 42.6 50 42.6C46 42.6 44.5 44 43 41Z",
};
const HEADGEAR: Readonly<Record<Court, string>> = {
  J: "M40.5 29.5C41 22 47 19.5 52 20C58 20.5 60 25 59.5 29.5C54 27 46 27 40.5 29.5ZM57 22C61 17 66 16.5 69 18C66 19 65 22 60.5 25Z",
  Q: "M42 28.5L40.5 19.5L45 24L47 17.5L50 23L53 17.5L55 24L59.5 19.5L58 28.5C53 26.5 47 26.5 42 28.5Z",
  K: "M41.5 29L38.5 16.5L45 21.5L50 13.5L55 21.5L61.5 16.5L58.5 29C53 26.8 47 26.8 41.5 29Z",
};
const HELD: Readonly<Record<Court, string>> = {
  // A halberd, a flower, a sword.
  J: "M71 17V70M71 21C66 22 65.5 29 71 31C74.5 30 75.5 27 75 24",
  Q: "M30 70C30.5 62 29.5 58 29 54M29 54a3.4 3.4 0 1 1 .1 0M29 61q4-3 5 1M29.6 64q-4-3-5 1",
  K: "M70.5 70V22M67 30H74M70.5 22l-1.6-4L70.5 14l1.6 4Z",
};

/** Centred on a card 100 wide and 140 high. */
export function CourtFigure({ rank, suit }: Props) {
  const half = (
    <>
      <path class="court-held" d={HELD[rank]} />
      {rank === "Q" && <path class="court-hair" d={HAIR.Q} />}
      <path class="court-robe" d={ROBE} />
      <RobePattern suit={suit} />
      <path class="court-gold" d={COLLAR} />
      {rank === "J" && <path class="court-hair" d={HAIR.J} />}
      <path class="court-face" d={FACE} />
      {rank === "K" && <path class="court-hair" d={HAIR.K} />}
      <path class="court-line" d={`${EYES}${rank === "K" ? "" : MOUTH}`} />
      <path class="court-gold" d={HEADGEAR[rank]} />
    </>
  );
  return (
    <g class="court">
      <rect class="court-frame" x="24" y="11" width="52" height="118" rx="2" />
      <g>{half}</g>
      <g transform="rotate(180 50 70)">{half}</g>
      <path class="court-sash" d="M25 74.5L75 65.5" />
      <g class="card-suit">
        <path d={SUIT_PATHS[suit]} transform="translate(31.5 20) scale(0.5)" />
        <path d={SUIT_PATHS[suit]} transform="rotate(180 50 70) translate(31.5 20) scale(0.5)" />
      </g>
    </g>
  );
}

/** Every suit has a cloth of its own. */
function RobePattern({ suit }: { suit: Suit }) {
  const paths: Readonly<Record<Suit, string>> = {
    s: "M32 70L41 55L50 70L59 55L68 70M41 70L45 63M59 70L55 63",
    h: "M36 70V53M43 70V52M57 70V52M64 70V53",
    d: "M30 70L44 53M40 70L50 60M70 70L56 53M60 70L50 60M34 55L48 70M66 55L52 70",
    c: "M29 58H71M26 63.5H74",
  };
  return <path class="court-pattern" d={paths[suit]} />;
}
