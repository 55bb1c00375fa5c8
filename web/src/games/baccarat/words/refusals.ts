// Refusals that baccarat words in its own way; for all others the frame's words hold.
import { dictionary } from "../../../words/language";
import { amountFact, type RefusalWords } from "../../../words/refusals";

export const baccaratRefusals = dictionary<RefusalWords>(
  {
    NOTHING_STAKED: "Faça primeiro uma aposta e mande depois dar as cartas.",
    BETS_TOO_CLOSE: (facts, mode) => {
      const least = amountFact(facts, "difference_cents", mode);
      return least
        ? `Quem aposta no ponto e na banca tem de apostar num deles mais ${least}, pelo menos, do que no outro. Nada mudou na mesa.`
        : "Quem aposta no ponto e na banca tem de apostar num deles mais do que no outro. Nada mudou na mesa.";
    },
    OFF_STEP: (facts, mode) => {
      const step = amountFact(facts, "step_cents", mode);
      return step
        ? `Aqui aposta-se em múltiplos de ${step}, para que a comissão seja de cêntimos inteiros.`
        : "O montante não é um múltiplo do que se aposta aqui.";
    },
    ABOVE_TABLE_LIMIT: (facts, mode) => {
      const limit = amountFact(facts, "limit_cents", mode);
      return limit
        ? `As apostas de todos os jogadores juntas passariam o limite da mesa, de ${limit}. Nada mudou na mesa.`
        : "As apostas de todos os jogadores juntas passariam o limite da mesa. Nada mudou na mesa.";
    },
  },
  {
    NOTHING_STAKED: "Place a bet first, then have the cards dealt.",
    BETS_TOO_CLOSE: (facts, mode) => {
      const least = amountFact(facts, "difference_cents", mode);
      return least
        ? `If you bet on ponto and on banca, one of the two has to be ${least} or more above the other. Nothing was changed.`
        : "If you bet on ponto and on banca, one of the two has to be above the other. Nothing was changed.";
    },
    OFF_STEP: (facts, mode) => {
      const step = amountFact(facts, "step_cents", mode);
      return step
        ? `Bets here are multiples of ${step}, so that the commission is in whole cents.`
        : "The amount is not a multiple of what is bet here.";
    },
    ABOVE_TABLE_LIMIT: (facts, mode) => {
      const limit = amountFact(facts, "limit_cents", mode);
      return limit
        ? `All players' bets together would exceed the table's limit of ${limit}. Nothing was changed.`
        : "All players' bets together would exceed the table's limit. Nothing was changed.";
    },
  },
);
