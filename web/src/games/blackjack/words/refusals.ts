// Refusals that blackjack words in its own way; for all others the frame's words hold.
import { dictionary } from "../../../words/language";
import { amount, cents } from "../../../words/money";
import type { RefusalWords } from "../../../words/refusals";

export const blackjackRefusals = dictionary<RefusalWords>(
  {
    NOTHING_STAKED: "Faça primeiro uma aposta e peça depois as cartas.",
    BELOW_MINIMUM: (facts, mode) => `O mínimo num lugar é de ${amount(cents(facts["minimum_cents"]), mode)}.`,
    ABOVE_MAXIMUM: (facts, mode) =>
      `O máximo num lugar é de ${amount(cents(facts["maximum_cents"]), mode)}, tudo somado. A aposta não foi feita.`,
    OFF_STEP: (facts, mode) => `A aposta tem de ser um múltiplo de ${amount(cents(facts["step_cents"]), mode)}.`,
    PLACE_TAKEN: (facts) => `O lugar ${facts["place"] ?? ""} é de outro jogador. Escolha um lugar livre.`,
    PLACE_UNKNOWN: "Esta mesa não tem esse lugar.",
    TOO_MANY_PLACES: (facts) =>
      facts["limit"] === "1"
        ? "Nesta mesa cada jogador aposta num só lugar."
        : `Nesta mesa cada jogador aposta em ${facts["limit"] ?? "poucos"} lugares, no máximo.`,
    TURN_OVER: "A decisão chegou tarde: já não era a vez dessa mão. Não lhe custou nada.",
    NOT_YOUR_TURN: "Ainda não é a sua vez.",
    NOT_YOUR_PLACE: (facts) => `No lugar ${facts["place"] ?? ""} decide quem lá apostou.`,
    DECISION_ILLEGAL: "Essa decisão não é possível com esta mão. Não lhe custou nada.",
    INSURANCE_REFUSED: (facts, mode) =>
      `O seguro pode ir até metade da aposta: ${amount(cents(facts["limit_cents"]), mode)}.`,
    SEAT_TAKEN: "Esse lugar já está ocupado. Escolha outro.",
    INSUFFICIENT_FUNDS: "O saldo não chega. Não lhe custou nada, e o que tem na mesa mantém-se.",
  },
  {
    NOTHING_STAKED: "Place a bet first, then have the cards dealt.",
    BELOW_MINIMUM: (facts, mode) => `The minimum on a place is ${amount(cents(facts["minimum_cents"]), mode)}.`,
    ABOVE_MAXIMUM: (facts, mode) =>
      `The maximum on a place is ${amount(cents(facts["maximum_cents"]), mode)} in all. The bet was not placed.`,
    OFF_STEP: (facts, mode) => `The bet has to be a multiple of ${amount(cents(facts["step_cents"]), mode)}.`,
    PLACE_TAKEN: (facts) => `Place ${facts["place"] ?? ""} is another player's. Choose a free one.`,
    PLACE_UNKNOWN: "This table has no such place.",
    TOO_MANY_PLACES: (facts) =>
      facts["limit"] === "1"
        ? "At this table, each player bets on one place only."
        : `At this table, each player bets on ${facts["limit"] ?? "few"} places at most.`,
    TURN_OVER: "The decision came too late: it was no longer that hand's turn. It cost you nothing.",
    NOT_YOUR_TURN: "It is not your turn yet.",
    NOT_YOUR_PLACE: (facts) => `On place ${facts["place"] ?? ""} the player who bet there decides.`,
    DECISION_ILLEGAL: "This hand does not allow that decision. It cost you nothing.",
    INSURANCE_REFUSED: (facts, mode) =>
      `An insurance is at most half of the bet: ${amount(cents(facts["limit_cents"]), mode)}.`,
    SEAT_TAKEN: "Somebody sits there already. Choose another place.",
    INSUFFICIENT_FUNDS: "Your balance is too low. It cost you nothing, and what you have on the table stands.",
  },
);
