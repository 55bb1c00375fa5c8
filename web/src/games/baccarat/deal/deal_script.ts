// When each card of a round is dealt and turned, within the time that the platform gives the deal.
//
// Four cards are dealt face down, one at a time and alternately, ponto first (812/2015:17); ponto's are turned, then banca's
// (812/2015:18); additional cards follow, ponto's before banca's (812/2015:20). A deal of more cards has more time.
import type { Span } from "../../../cards/card_motion";

/** How many cards of each side. */
export interface CardCounts {
  ponto: number;
  banca: number;
}

export interface DealScript {
  /** When each card slides to its place, in milliseconds from the beginning. */
  ponto: readonly Span[];
  banca: readonly Span[];
  /** What is turned when, in order. */
  turns: readonly { at_ms: number; revealed: CardCounts }[];
  length_ms: number;
}

export const NO_CARDS: CardCounts = { ponto: 0, banca: 0 };

// Parts of a card's share of the time: sliding, the pause before a side is turned, and turning.
const SLIDES = 0.6;
const TURNS = 0.8;
const THIRD_SLIDES = 0.6;

/** `ponto` and `banca` say how many cards each side gets: two or three. */
export function dealScript(ponto: number, banca: number, length_ms: number): DealScript {
  const share = length_ms / (ponto + banca);
  const span = (from: number, takes: number): Span => ({ from_ms: from * share, until_ms: (from + takes) * share });
  const dealt = (index: number) => span(index * SLIDES, SLIDES);
  const script = { ponto: [dealt(0), dealt(2)], banca: [dealt(1), dealt(3)] };
  let now = 4 * SLIDES;
  const turns = [
    { at_ms: now * share, revealed: { ponto: 2, banca: 0 } },
    { at_ms: (now + TURNS) * share, revealed: { ponto: 2, banca: 2 } },
  ];
  now += 2 * TURNS;
  if (ponto > 2) {
    script.ponto.push(span(now, THIRD_SLIDES));
    turns.push({ at_ms: (now + THIRD_SLIDES) * share, revealed: { ponto: 3, banca: 2 } });
    now += 1;
  }
  if (banca > 2) {
    script.banca.push(span(now, THIRD_SLIDES));
    turns.push({ at_ms: (now + THIRD_SLIDES) * share, revealed: { ponto, banca: 3 } });
  }
  return { ...script, turns, length_ms };
}

/** What lies open after so much time. */
export function revealedAfter(script: DealScript, ms: number): CardCounts {
  return script.turns.findLast(({ at_ms }) => at_ms <= ms)?.revealed ?? NO_CARDS;
}

/** What has left the shoe after so much time. */
export function dealtAfter(script: DealScript, ms: number): CardCounts {
  const begun = (spans: readonly Span[]) => spans.filter(({ from_ms }) => from_ms <= ms).length;
  return { ponto: begun(script.ponto), banca: begun(script.banca) };
}

/** When a card is dealt or turned, in order. */
export function momentsOf(script: DealScript): readonly number[] {
  const moments = [...script.ponto, ...script.banca].map(({ from_ms }) => from_ms);
  return [...moments, ...script.turns.map(({ at_ms }) => at_ms)].sort((one, other) => one - other);
}
