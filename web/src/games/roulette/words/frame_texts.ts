// What the frame says of roulette.
import type { LocalizedText } from "../../../api/messages";
import type { GameTexts } from "../../../game_interface/game";
import { dictionary } from "../../../words/language";

export const EMPTIED_ROUND: LocalizedText = {
  pt: "A bola não foi lançada: as apostas desta jogada foram todas retiradas.",
  en: "The ball was not launched: every bet of this round was taken back.",
};

export const frameTexts = dictionary<GameTexts>(
  {
    name: "Roleta",
    introduction:
      "Roleta pelas regras da lei portuguesa: com outros à mesma mesa, ou ao seu ritmo, numa mesa só para si.",
    individualStart: "Sem conta e sem dinheiro. Um clique, e está à mesa: aposta, e lança a bola quando quiser.",
    individualHint: "É o jogador quem lança a bola, quando quiser",
    fairness: "Cada número é tirado à sorte no servidor, com a mesma probabilidade para todos.",
    startedAfterSession:
      "A bola foi lançada pela plataforma, porque a sua sessão terminou com uma aposta na mesa. A aposta contou.",
    startedAtHandover:
      "A bola foi lançada pela plataforma, porque a mesa teve de ser mudada por razões técnicas e não a lançou a tempo. A aposta contou.",
  },
  {
    name: "Roulette",
    introduction:
      "Roulette by the rules of Portuguese law: with others at one table, or at your own pace, at a table of your own.",
    individualStart:
      "No account, no money. One click, and you are at the table: bet, and launch the ball when you like.",
    individualHint: "You launch the ball yourself, whenever you like",
    fairness: "Every number is drawn on the server, equally likely for everybody.",
    startedAfterSession:
      "The platform launched the ball, because your session ended with a bet on the table. The bet counted.",
    startedAtHandover:
      "The platform launched the ball, because the table had to be moved for technical reasons and you did not launch it in time. The bet counted.",
  },
);
