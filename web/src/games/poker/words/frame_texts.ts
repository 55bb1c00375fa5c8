// What the frame says of poker.
import type { LocalizedText } from "../../../api/messages";
import type { GameTexts } from "../../../game_interface/game";
import { dictionary } from "../../../words/language";

export const EMPTIED_ROUND: LocalizedText = {
  pt: "A jogada não chegou a começar: nenhum jogador ficou na mesa.",
  en: "The hand did not begin: no player was left at the table.",
};

export const frameTexts = dictionary<GameTexts>(
  {
    name: "Póquer",
    introduction:
      "Póquer a dinheiro pelas regras da lei portuguesa: Hold'em e Omaha, de 2 a 10 jogadores à mesma mesa.",
    individualStart: "Sem conta e sem dinheiro. Um clique, e está à mesa.",
    individualHint: "Joga-se contra outros jogadores",
    fairness: "O baralho é baralhado no servidor antes de cada jogada, e a sua ordem já não muda.",
    startedAfterSession: "",
    startedAtHandover: "",
  },
  {
    name: "Poker",
    introduction: "Poker for cash by the rules of Portuguese law: Hold'em and Omaha, 2 to 10 players at one table.",
    individualStart: "No account, no money. One click, and you are at the table.",
    individualHint: "You play against other players",
    fairness: "The pack is shuffled on the server before each hand, and its order does not change any more.",
    startedAfterSession: "",
    startedAtHandover: "",
  },
);
