// Cards by the platform's names, and in words: `As` is the ace of spades, `Td` the ten of diamonds, an empty name a card that
// lies face down.
import { dictionary } from "../words/language";

export const RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"] as const;
export const SUITS = ["s", "h", "d", "c"] as const;

export type Rank = (typeof RANKS)[number];
export type Suit = (typeof SUITS)[number];

export interface Card {
  rank: Rank;
  suit: Suit;
}

const cardNamesWords = dictionary(
  {
    ranks: { A: "ás", J: "valete", Q: "dama", K: "rei" } as Readonly<Partial<Record<Rank, string>>>,
    suits: { s: "espadas", h: "copas", d: "ouros", c: "paus" } satisfies Record<Suit, string>,
    card: (rank: string, suit: string) => `${rank} de ${suit}`,
    hidden: "carta virada para baixo",
    and: (first: string, last: string) => `${first} e ${last}`,
  },
  {
    ranks: { A: "ace", J: "jack", Q: "queen", K: "king" },
    suits: { s: "spades", h: "hearts", d: "diamonds", c: "clubs" },
    card: (rank: string, suit: string) => `${rank} of ${suit}`,
    hidden: "face-down card",
    and: (first: string, last: string) => `${first} and ${last}`,
  },
);

/** The card of a name; null of an empty or unknown one, which is shown face down. */
export function parseCard(name: string): Card | null {
  const rank = RANKS.find((one) => one === name[0]);
  const suit = SUITS.find((one) => one === name[1]);
  return rank && suit && name.length === 2 ? { rank, suit } : null;
}

/** What stands in the corner of a card: `A`, `10`, `Q`. */
export function rankSign(rank: Rank): string {
  return rank === "T" ? "10" : rank;
}

/** `ás de espadas`, `10 de ouros`, `carta virada para baixo`. */
export function cardText(name: string): string {
  const words = cardNamesWords();
  const card = parseCard(name);
  if (!card) return words.hidden;
  return words.card(words.ranks[card.rank] ?? rankSign(card.rank), words.suits[card.suit]);
}

/** Several cards in words: `ás de espadas, 7 de paus e rei de copas`. */
export function cardsText(names: readonly string[]): string {
  const texts = names.map(cardText);
  const last = texts.pop();
  if (last === undefined) return "";
  return texts.length ? cardNamesWords().and(texts.join(", "), last) : last;
}
