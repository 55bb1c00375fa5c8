// Scores and hands in short: beside the cards, and for who hears them.
import { dictionary } from "../../../words/language";
import type { BankHand, Hand } from "../messages/messages";
import { scoreOf } from "../round/scores";

const scoresWords = dictionary(
  {
    blackjack: "Blackjack",
    soft: (low: number, high: number) => `${low} ou ${high}`,
    softSaid: (high: number) => `${high}, com o ás a valer 11`,
    bust: (score: number) => `${score}, passou de 21`,
  },
  {
    blackjack: "Blackjack",
    soft: (low: number, high: number) => `${low} or ${high}`,
    softSaid: (high: number) => `soft ${high}`,
    bust: (score: number) => `${score}, over 21`,
  },
);

const MOST = 21;

/** `17`; of a soft hand in play `7/17`, of one that is over the score that counts; `Blackjack`. */
export function scoreLabel(hand: Hand): string {
  if (hand.blackjack && hand.cards.length === 2) return scoresWords().blackjack;
  const { score, soft } = scored(hand);
  const open = hand.state === "HAND_STATE_IN_PLAY" && score < MOST;
  return soft && open ? `${score - 10}/${score}` : String(score);
}

export function bankScoreLabel(bank: BankHand): string {
  const names = bank.cards.filter(Boolean);
  if (names.length === 0) return "";
  if (bank.blackjack && names.length === 2) return scoresWords().blackjack;
  const { score, soft } = scoreOf(names);
  return soft && score < 17 ? `${score - 10}/${score}` : String(score);
}

/** `17`, `17, com o ás a valer 11`, `24, passou de 21`, `blackjack`. */
export function scoreSaid(hand: Hand): string {
  const words = scoresWords();
  if (hand.blackjack) return words.blackjack.toLowerCase();
  const { score, soft } = scored(hand);
  if (score > MOST) return words.bust(score);
  return soft && score < MOST ? words.softSaid(score) : String(score);
}

export function bankScoreSaid(bank: BankHand): string {
  const words = scoresWords();
  const names = bank.cards.filter(Boolean);
  if (bank.blackjack && names.length === 2) return words.blackjack.toLowerCase();
  const { score } = scoreOf(names);
  return score > MOST ? words.bust(score) : String(score);
}

/** The platform's own score once all cards lie: it knows of aces that were frozen at 1 (8.a.ii). */
function scored(hand: Hand): { score: number; soft: boolean } {
  const counted = scoreOf(hand.cards);
  return counted.score === hand.score || hand.doubled ? { score: hand.score, soft: hand.soft } : counted;
}
