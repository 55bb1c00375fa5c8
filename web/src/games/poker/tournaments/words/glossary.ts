// The foreign words of tournaments and what they mean (810/2015:57, 810/2015:58).
import { dictionary } from "../../../../words/language";

export type Glossary = readonly (readonly [word: string, meaning: string])[];

export const glossary = dictionary<Glossary>(
  [
    ["Add-on", "compra de um bloco de fichas que todos podem fazer num certo intervalo"],
    ["Blinds", "apostas obrigatórias, a pequena e a grande, antes de se darem as cartas"],
    ["Bounty", "prémio de eliminação, de quem elimina um jogador"],
    ["Freeroll", "torneio de inscrição gratuita"],
    ["Rebuy", "compra de mais fichas por quem as perdeu, ou tem poucas"],
    ["Sit & go", "torneio que começa logo que todos os lugares estão ocupados"],
    ["Sit out", "ausência: as blinds são pagas, e as mãos passam ou desistem"],
    ["Stack", "as fichas de um jogador"],
  ],
  [
    ["Add-on", "a block of chips that everybody may buy in one break"],
    ["Blinds", "obligatory bets, the small and the big one, before the cards are dealt"],
    ["Bounty", "the prize of a player who eliminates another"],
    ["Freeroll", "a tournament that costs nothing to enter"],
    ["Rebuy", "more chips, bought by a player who has lost theirs or has few"],
    ["Sit & go", "a tournament that starts as soon as all seats are taken"],
    ["Sit out", "being away: blinds are posted, and hands check or fold"],
    ["Stack", "a player's chips"],
  ],
);
