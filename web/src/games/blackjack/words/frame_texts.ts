// What the frame says of blackjack.
import type { LocalizedText } from "../../../api/messages";
import type { GameTexts } from "../../../game_interface/game";
import { dictionary } from "../../../words/language";

export const EMPTIED_ROUND: LocalizedText = {
  pt: "As cartas não foram distribuídas: as apostas desta jogada foram todas retiradas.",
  en: "The cards were not dealt: every bet of this round was taken back.",
};

export const frameTexts = dictionary<GameTexts>(
  {
    name: "Blackjack/21",
    introduction:
      "Blackjack pelas regras da lei portuguesa: com outros à mesma mesa, ou ao seu ritmo, numa mesa só para si.",
    individualStart: "Sem conta e sem dinheiro. Um clique, e está à mesa: aposta, e pede as cartas quando quiser.",
    individualHint: "É o jogador quem manda dar as cartas, quando quiser",
    fairness: "As cartas são baralhadas de novo antes de cada jogada, no servidor, e a sua ordem já não muda.",
    startedAfterSession:
      "As cartas foram dadas pela plataforma, porque a sua sessão terminou com uma aposta na mesa. A aposta contou.",
    startedAtHandover:
      "As cartas foram dadas pela plataforma, porque a mesa teve de ser mudada por razões técnicas e não as pediu a tempo. A aposta contou.",
  },
  {
    name: "Blackjack/21",
    introduction:
      "Blackjack by the rules of Portuguese law: with others at one table, or at your own pace, at a table of your own.",
    individualStart:
      "No account, no money. One click, and you are at the table: bet, and have the cards dealt when you like.",
    individualHint: "You start the deal yourself, whenever you like",
    fairness: "The cards are shuffled anew before each round, on the server, and their order does not change any more.",
    startedAfterSession:
      "The platform dealt the cards, because your session ended with a bet on the table. The bet counted.",
    startedAtHandover:
      "The platform dealt the cards, because the table had to be moved for technical reasons and you did not start the deal in time. The bet counted.",
  },
);
