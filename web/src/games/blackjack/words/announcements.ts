// What screen readers hear of the cards and of the player's decisions.
import type { Mode } from "../../../api/messages";
import { cardsText } from "../../../cards/card_names";
import { dictionary } from "../../../words/language";
import { amount } from "../../../words/money";
import type { BankHand, Hand } from "../messages/messages";
import { decisionText } from "./decision_words";
import { bankScoreSaid, scoreSaid } from "./scores";

const announcementWords = dictionary(
  {
    bank: (cards: string, score: string) => `Banca: ${cards}; ${score}.`,
    own: (cards: string, score: string) => `A sua mão: ${cards}; ${score}.`,
    ownHand: (place: number, number: number, cards: string, score: string) =>
      `Lugar ${place}, mão ${number}: ${cards}; ${score}.`,
    turn: "É a sua vez.",
    turnOf: (place: number, number: number) => `É a sua vez, lugar ${place}, mão ${number}.`,
    can: (choices: string) => `Pode: ${choices}.`,
    insurance: (place: number) => `A banca tem um ás. Quer fazer seguro no lugar ${place}?`,
    evenMoney: (place: number) =>
      `Tem blackjack no lugar ${place}, e a banca um ás. Quer receber já um prémio igual à aposta?`,
    costs: (choice: string, cost: string) => `${choice}, mais ${cost}`,
  },
  {
    bank: (cards: string, score: string) => `Bank: ${cards}; ${score}.`,
    own: (cards: string, score: string) => `Your hand: ${cards}; ${score}.`,
    ownHand: (place: number, number: number, cards: string, score: string) =>
      `Place ${place}, hand ${number}: ${cards}; ${score}.`,
    turn: "It is your turn.",
    turnOf: (place: number, number: number) => `It is your turn, place ${place}, hand ${number}.`,
    can: (choices: string) => `You can: ${choices}.`,
    insurance: (place: number) => `The bank has an ace. Do you want insurance on place ${place}?`,
    evenMoney: (place: number) =>
      `You have blackjack on place ${place}, and the bank has an ace. Do you want a prize equal to your bet at once?`,
    costs: (choice: string, cost: string) => `${choice}, for ${cost} more`,
  },
);

export function bankText(bank: BankHand): string {
  return announcementWords().bank(cardsText(bank.cards), bankScoreSaid(bank));
}

/** With its place and number where the player has several hands. */
export function handText(hand: Hand, several: boolean): string {
  const words = announcementWords();
  const [cards, score] = [cardsText(hand.cards), scoreSaid(hand)];
  return several ? words.ownHand(hand.place, hand.number, cards, score) : words.own(cards, score);
}

interface Asked {
  place: number;
  offer: "insurance" | "even_money" | null;
  possible: readonly { decision: Parameters<typeof decisionText>[0]; cost_cents: number }[];
}

/** What the player is asked, and every decision that is possible (805/2015:24). */
export function questionText(question: Asked, hand: Hand | null, several: boolean, mode: Mode): string {
  const words = announcementWords();
  if (question.offer === "even_money") return words.evenMoney(question.place);
  if (question.offer === "insurance") return words.insurance(question.place);
  const choices = question.possible.map(({ decision, cost_cents }) => {
    const choice = decisionText(decision).act.toLowerCase();
    return cost_cents ? words.costs(choice, amount(cost_cents, mode)) : choice;
  });
  const turn = several && hand ? words.turnOf(hand.place, hand.number) : words.turn;
  return `${turn} ${words.can(choices.join("; "))}`;
}
