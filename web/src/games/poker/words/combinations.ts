// Combinations in words, by the names of the regulation (806/2015:29): `Fullen de reis e 9`, `Sequência à dama`.
import { parseCard, type Rank, type Suit } from "../../../cards/card_names";
import { dictionary } from "../../../words/language";
import type { Combination } from "../messages/messages";

type Ranks = readonly (Rank | undefined)[];

interface CombinationWords {
  names: Readonly<Record<Exclude<Combination, "COMBINATION_UNSPECIFIED">, (ranks: Ranks, suit: Suit) => string>>;
}

const PT_SUITS: Readonly<Record<Suit, string>> = { s: "espadas", h: "copas", d: "ouros", c: "paus" };
const EN_SUITS: Readonly<Record<Suit, string>> = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };
const PT_MANY: Readonly<Partial<Record<Rank, string>>> = { A: "ases", K: "reis", Q: "damas", J: "valetes", T: "10" };
const PT_HIGH: Readonly<Partial<Record<Rank, string>>> = {
  A: "ao ás",
  K: "ao rei",
  Q: "à dama",
  J: "ao valete",
  T: "ao 10",
};
const PT_ONE: Readonly<Partial<Record<Rank, string>>> = { A: "ás", K: "rei", Q: "dama", J: "valete", T: "10" };
const EN_ONE: Readonly<Record<Rank, string>> = {
  A: "ace",
  K: "king",
  Q: "queen",
  J: "jack",
  T: "ten",
  9: "nine",
  8: "eight",
  7: "seven",
  6: "six",
  5: "five",
  4: "four",
  3: "three",
  2: "two",
};

function ptMany(rank: Rank | undefined): string {
  return rank ? (PT_MANY[rank] ?? rank) : "";
}

function ptHigh(rank: Rank | undefined): string {
  return rank ? (PT_HIGH[rank] ?? `ao ${rank}`) : "";
}

function enMany(rank: Rank | undefined): string {
  if (!rank) return "";
  return rank === "6" ? "sixes" : `${EN_ONE[rank]}s`;
}

function enHigh(rank: Rank | undefined): string {
  return rank ? EN_ONE[rank] : "";
}

const combinationWords = dictionary<CombinationWords>(
  {
    names: {
      COMBINATION_ROYAL_FLUSH: (_, suit) => `Sequência máxima de cor, ${PT_SUITS[suit]}`,
      COMBINATION_STRAIGHT_FLUSH: ([first]) => `Sequência de cor ${ptHigh(first)}`,
      COMBINATION_FOUR_OF_A_KIND: ([first]) => `Póquer de ${ptMany(first)}`,
      COMBINATION_FULL_HOUSE: (ranks) => `Fullen de ${ptMany(ranks[0])} e ${ptMany(ranks[3])}`,
      COMBINATION_FLUSH: ([first], suit) => `Cor de ${PT_SUITS[suit]} ${ptHigh(first)}`,
      COMBINATION_STRAIGHT: ([first]) => `Sequência ${ptHigh(first)}`,
      COMBINATION_THREE_OF_A_KIND: ([first]) => `Trio de ${ptMany(first)}`,
      COMBINATION_TWO_PAIR: (ranks) => `Dois pares, ${ptMany(ranks[0])} e ${ptMany(ranks[2])}`,
      COMBINATION_PAIR: ([first]) => `Par de ${ptMany(first)}`,
      COMBINATION_HIGH_CARD: ([first, second]) =>
        `Cartas maiores, ${[first, second].map((rank) => (rank ? (PT_ONE[rank] ?? rank) : "")).join(" e ")}`,
    },
  },
  {
    names: {
      COMBINATION_ROYAL_FLUSH: (_, suit) => `Royal flush of ${EN_SUITS[suit]}`,
      COMBINATION_STRAIGHT_FLUSH: ([first]) => `Straight flush, ${enHigh(first)} high`,
      COMBINATION_FOUR_OF_A_KIND: ([first]) => `Four ${enMany(first)}`,
      COMBINATION_FULL_HOUSE: (ranks) => `Full house, ${enMany(ranks[0])} and ${enMany(ranks[3])}`,
      COMBINATION_FLUSH: ([first], suit) => `Flush of ${EN_SUITS[suit]}, ${enHigh(first)} high`,
      COMBINATION_STRAIGHT: ([first]) => `Straight, ${enHigh(first)} high`,
      COMBINATION_THREE_OF_A_KIND: ([first]) => `Three ${enMany(first)}`,
      COMBINATION_TWO_PAIR: (ranks) => `Two pair, ${enMany(ranks[0])} and ${enMany(ranks[2])}`,
      COMBINATION_PAIR: ([first]) => `Pair of ${enMany(first)}`,
      COMBINATION_HIGH_CARD: ([first, second]) => `High cards, ${enHigh(first)} and ${enHigh(second)}`,
    },
  },
);

/** Empty where nothing was compared. `cards` are the five, in the order that matters. */
export function combinationText(combination: Combination, cards: readonly string[]): string {
  if (combination === "COMBINATION_UNSPECIFIED") return "";
  const parsed = cards.map(parseCard);
  const ranks = parsed.map((card) => card?.rank);
  return combinationWords().names[combination](ranks, parsed[0]?.suit ?? "s");
}
