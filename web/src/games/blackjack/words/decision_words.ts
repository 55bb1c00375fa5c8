// Decisions in words: on buttons, in records, and the keys that make them.
import { dictionary } from "../../../words/language";
import type { Choice } from "../messages/messages";

interface DecisionWords {
  /** On the button. */
  act: string;
  /** What it does, for who has forgotten. */
  hint: string;
  /** In a record. */
  made: string;
  /** Its key, when single letters act. */
  key: string;
}

const decisionWords = dictionary<Readonly<Record<Choice, DecisionWords>>>(
  {
    DECISION_DRAW: { act: "Pedir carta", hint: "Recebe mais uma carta.", made: "pediu carta", key: "P" },
    DECISION_STAND: { act: "Ficar", hint: "Não recebe mais cartas.", made: "ficou", key: "F" },
    DECISION_DOUBLE: {
      act: "Dobrar",
      hint: "Aposta outro tanto e recebe uma só carta.",
      made: "dobrou",
      key: "D",
    },
    DECISION_SPLIT: {
      act: "Desdobrar",
      hint: "Separa as duas cartas em duas mãos, com outra aposta igual.",
      made: "desdobrou",
      key: "S",
    },
    DECISION_GIVE_UP: {
      act: "Desistir",
      hint: "Perde metade da aposta e recebe já a outra metade.",
      made: "desistiu",
      key: "X",
    },
    DECISION_INSURE: {
      act: "Fazer seguro",
      hint: "Paga 2 para 1 se a banca tiver blackjack.",
      made: "fez seguro",
      key: "G",
    },
    DECISION_EVEN_MONEY: {
      act: "Receber já",
      hint: "Recebe já um prémio igual à aposta, seja qual for a carta da banca.",
      made: "recebeu já um prémio igual à aposta",
      key: "R",
    },
    DECISION_DECLINE: { act: "Não, obrigado", hint: "Joga sem isso.", made: "recusou", key: "N" },
  },
  {
    DECISION_DRAW: { act: "Hit", hint: "You get one more card.", made: "hit", key: "H" },
    DECISION_STAND: { act: "Stand", hint: "You get no more cards.", made: "stood", key: "S" },
    DECISION_DOUBLE: {
      act: "Double",
      hint: "You stake as much again and get one card only.",
      made: "doubled",
      key: "D",
    },
    DECISION_SPLIT: {
      act: "Split",
      hint: "Your two cards become two hands, with another bet of the same amount.",
      made: "split",
      key: "P",
    },
    DECISION_GIVE_UP: {
      act: "Give up",
      hint: "You lose half of the bet and get the other half back at once.",
      made: "gave up",
      key: "X",
    },
    DECISION_INSURE: { act: "Insure", hint: "Pays 2 to 1 if the bank has blackjack.", made: "insured", key: "I" },
    DECISION_EVEN_MONEY: {
      act: "Take it now",
      hint: "You get a prize equal to your bet at once, whatever the bank's card is.",
      made: "took a prize equal to the bet at once",
      key: "T",
    },
    DECISION_DECLINE: { act: "No, thanks", hint: "You play on without it.", made: "declined", key: "N" },
  },
);

export function decisionText(decision: Choice): DecisionWords {
  return decisionWords()[decision];
}
