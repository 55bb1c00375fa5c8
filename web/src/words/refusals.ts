// Refusals in words that a player understands, with the amounts needed to go on.
import type { Refusal } from "../api/refusal";
import { dictionary } from "./language";
import { amount, cents, type Unit } from "./money";
import { reasonText } from "./reasons";

type Facts = Readonly<Record<string, string>>;
export type RefusalPhrase = string | ((facts: Facts, mode: Unit) => string);

/** By reason. */
export type RefusalWords = Readonly<Record<string, RefusalPhrase>>;

/** An amount among the facts; null where the platform did not give it. */
export function amountFact(facts: Facts, name: string, mode: Unit): string | null {
  return facts[name] === undefined ? null : amount(cents(facts[name]), mode);
}

function seconds(facts: Facts): number {
  return Math.max(1, Math.ceil(Number(facts["retry_after_ms"] ?? 1000) / 1000));
}

interface RefusalTexts {
  /** Refusals that a player can meet, by reason. */
  byReason: RefusalWords;
  /** For refusals that only a fault of the front-end or the platform can cause. */
  internal: string;
  /** No answer came: whether anything was done is unknown. */
  unanswered: string;
}

const texts = dictionary<RefusalTexts>(
  {
    byReason: {
      BETTING_CLOSED: "Jogo feito: a aposta chegou tarde. Nada lhe foi cobrado.",
      ROUND_ENDED: "Essa jogada já terminou. Nada lhe foi cobrado.",
      INSUFFICIENT_FUNDS: (facts, mode) => {
        const [free, needed] = [amountFact(facts, "free_cents", mode), amountFact(facts, "needed_cents", mode)];
        return free && needed
          ? `O saldo não chega: precisa de ${needed} e tem ${free} livres. Esta aposta não foi feita; as outras mantêm-se.`
          : "O saldo não chega para esta aposta. Não foi feita; as outras mantêm-se.";
      },
      BET_ILLEGAL: "Essa aposta não existe nesta mesa. Nada lhe foi cobrado.",
      BET_NOT_OFFERED: "Esta mesa não oferece essa aposta. Nada lhe foi cobrado.",
      BELOW_MINIMUM: (facts, mode) => {
        const minimum = amountFact(facts, "minimum_cents", mode);
        return minimum ? `O mínimo nesta posição é de ${minimum}.` : "A aposta está abaixo do mínimo desta posição.";
      },
      ABOVE_MAXIMUM: (facts, mode) => {
        const maximum = amountFact(facts, "maximum_cents", mode);
        return maximum
          ? `O máximo nesta posição é de ${maximum}, tudo somado. A aposta não foi feita.`
          : "A aposta passa o máximo desta posição. Não foi feita.";
      },
      ABOVE_TOTAL: (facts, mode) => {
        const maximum = amountFact(facts, "maximum_cents", mode);
        return maximum
          ? `O máximo por jogada, com todas as apostas somadas, é de ${maximum}. A aposta não foi feita.`
          : "A aposta passa o máximo por jogada desta mesa. Não foi feita.";
      },
      ODD_CENTS: "Nesta posição a aposta tem de ser um número par de cêntimos.",
      OFF_STEP: (facts, mode) => {
        const step = amountFact(facts, "step_cents", mode);
        return step ? `Aqui aposta-se em múltiplos de ${step}.` : "O montante não é um múltiplo do que se aposta aqui.";
      },
      BETS_TOO_CLOSE: (facts, mode) => {
        const least = amountFact(facts, "difference_cents", mode);
        return least
          ? `Apostas nos dois lados têm de diferir em ${least} ou mais. A aposta não foi feita.`
          : "Apostas nos dois lados têm de diferir no mínimo da mesa ou mais. A aposta não foi feita.";
      },
      ABOVE_TABLE_LIMIT: (facts, mode) => {
        const limit = amountFact(facts, "limit_cents", mode);
        return limit
          ? `As apostas de todos os jogadores passariam o limite da mesa, de ${limit}. Nada lhe foi cobrado.`
          : "As apostas de todos os jogadores passariam o limite da mesa. Nada lhe foi cobrado.";
      },
      PLACE_UNKNOWN: "Esta mesa não tem esse lugar.",
      PLACE_TAKEN: "Esse lugar é de outro jogador. Escolha um que esteja livre. Nada lhe foi cobrado.",
      TOO_MANY_PLACES: (facts) =>
        facts["limit"]
          ? `Nesta mesa cada jogador pode apostar em ${facts["limit"]} ${facts["limit"] === "1" ? "lugar" : "lugares"}, não em mais.`
          : "Já aposta em tantos lugares quantos se pode nesta mesa.",
      SEAT_TAKEN: "Nesse lugar já se sentou outro jogador. Escolha um que esteja livre.",
      CAVE_OUT_OF_BOUNDS: (facts, mode) => {
        const [least, most] = [amountFact(facts, "minimum_cents", mode), amountFact(facts, "maximum_cents", mode)];
        return least && most
          ? `Pode trazer de ${least} a ${most} para a cave. Nada lhe foi cobrado.`
          : "A sua cave não aceita esse valor. Nada lhe foi cobrado.";
      },
      REST_REFUSED: "De momento esta mesa não concede mais descansos.",
      POST_REFUSED: "Agora não pode pagar a grande aposta para entrar. Recebe cartas quando ela chegar ao seu lugar.",
      WAITING_LIST_FULL: "A lista de espera desta mesa está cheia.",
      ALREADY_SEATED: "Já está sentado a esta mesa.",
      OUTSIDE_PERIOD: "Esta mesa só está aberta durante a sua sessão.",
      NOT_REGISTERED_FOR_PERIOD: "A esta mesa só se senta quem se inscreveu antes de a sessão começar.",
      PERIOD_BEGUN: "As inscrições para esta mesa acabaram.",
      PERIOD_FULL: "As inscrições para esta mesa estão esgotadas.",
      SHARED_DEVICE: "Deste dispositivo ou desta ligação já joga outra conta a esta mesa. Escolha outra mesa.",
      TURN_OVER: "A decisão chegou tarde: já não era essa a vez. Nada lhe foi cobrado.",
      NOT_YOUR_TURN: "Agora decide outro lugar. Espere pela sua vez.",
      NOT_YOUR_PLACE: "Nesse lugar decide quem lá apostou. Nada lhe foi cobrado.",
      DECISION_ILLEGAL: "Esta mão não permite essa decisão. Nada lhe foi cobrado.",
      INSURANCE_REFUSED: (facts, mode) => {
        const limit = amountFact(facts, "limit_cents", mode);
        return limit
          ? `O seguro vai até metade da aposta: no máximo ${limit}. Nada lhe foi cobrado.`
          : "O seguro vai até metade da aposta, não mais. Nada lhe foi cobrado.";
      },
      ROUND_FULL:
        "Esta jogada atingiu o limite de apostas e já não aceita outras. Aposte na próxima. Nada lhe foi cobrado.",
      TOO_MANY_BETS:
        "Já apostou e retirou tantas vezes quantas se pode nesta jogada. O que está na mesa vale; aposte na próxima.",
      PAYOUT_TOO_LARGE:
        "Esta aposta poderia ganhar mais do que se paga nesta mesa. Aposte menos. Nada lhe foi cobrado.",
      CANCEL_FORBIDDEN: "Nesta mesa as apostas feitas não se podem retirar.",
      NOT_ON_FELT: "Já não tem essa aposta na mesa.",
      NOTHING_TO_REPEAT: "Ainda não tem apostas anteriores nesta mesa para repetir.",
      NOTHING_STAKED: "Faça primeiro uma aposta.",
      NOT_SEATED: "Já não está sentado a esta mesa. Sente-se de novo para apostar.",
      SESSION_ENDED: "A sua sessão nesta mesa terminou. Sente-se de novo para continuar a jogar.",
      SESSION_RUNNING: "Já tem uma sessão a decorrer nesta mesa.",
      SESSION_UNKNOWN: "Não encontrámos essa sessão.",
      SESSION_MISMATCH: "Essa sessão é de outra mesa.",
      TABLE_UNKNOWN: "Esta mesa não existe ou já não se joga.",
      TOURNAMENT_UNKNOWN: "Este torneio não existe, ou já não está na lista.",
      REGISTRATION_CLOSED: "As inscrições neste torneio estão fechadas. Nada lhe foi cobrado.",
      ALREADY_REGISTERED: "Já está inscrito neste torneio. Nada mais lhe foi cobrado.",
      NOT_REGISTERED: "Não está inscrito neste torneio.",
      UNREGISTERING_CLOSED: "A inscrição já não pode ser anulada: o prazo terminou.",
      MORE_CHIPS_REFUSED: "De momento não pode comprar mais fichas neste torneio. Nada lhe foi cobrado.",
      TOURNAMENT_OVER: "Este torneio já terminou, ou foi cancelado.",
      TOURNAMENT_CLOSED: "Este torneio já terminou. Nada lhe foi cobrado.",
      TICKET_UNKNOWN: "Não tem esse bilhete. Nada lhe foi cobrado.",
      TICKET_NOT_TRANSFERABLE:
        "Esse bilhete é de outro jogador: uma inscrição ganha não se vende nem se transmite (810/2015, regra 28).",
      TICKET_UNUSABLE: ({ field }) =>
        field === "tournament_id"
          ? "Esse bilhete é para outro torneio."
          : field === "value_cents"
            ? "O valor desse bilhete não é o preço da inscrição."
            : "Esse bilhete já foi usado ou já não vale.",
      TABLE_ELSEWHERE: "Estamos a mover esta mesa para outro servidor. Tente de novo dentro de momentos.",
      TABLE_DISABLED: (facts) =>
        facts["why"]
          ? `A mesa está encerrada. Motivo: ${reasonText(facts["why"])}`
          : "A mesa está encerrada de momento.",
      TABLE_FULL: (facts) =>
        facts["seats"]
          ? `Os ${facts["seats"]} lugares desta mesa estão todos ocupados.`
          : "Os lugares desta mesa estão todos ocupados.",
      WRONG_PLAY: "Nesta mesa não se joga dessa maneira.",
      ROUND_UNKNOWN: "Não encontrámos essa jogada.",
      ROUND_MISMATCH: "Essa jogada é de outra mesa.",
      ROUND_DECIDED: "A jogada já tem resultado.",
      ACCOUNT_UNKNOWN: "Ainda não tem conta para jogar a dinheiro.",
      ACCOUNT_BLOCKED: "A sua conta não pode jogar de momento. Contacte o apoio ao cliente.",
      MODE_MISMATCH: "Créditos de demonstração e dinheiro não se misturam: esta mesa pede a outra conta.",
      AMOUNT_OUT_OF_RANGE: "O montante é maior do que podemos registar. Nada foi feito.",
      CAVE_INSUFFICIENT: "O que tem na mesa não chega para essa aposta.",
      COMPLAINT_UNKNOWN: "Não encontrámos essa reclamação.",
      COMPLAINT_CLOSED: "A reclamação está encerrada: já não se pode acrescentar nada.",
      COMPLAINTS_UNANSWERED: (facts) =>
        facts["limit"]
          ? `Tem ${facts["limit"]} reclamações à espera de resposta, que é o máximo. Acrescente a uma delas ou espere por uma resposta.`
          : "Tem demasiadas reclamações à espera de resposta. Acrescente a uma delas ou espere por uma resposta.",
      SCOPE_MISSING: "Precisa de entrar na sua conta para isto.",
      TOKEN_INVALID: "O seu acesso não é válido. Entre de novo.",
      TOKEN_EXPIRED: "O seu acesso expirou. Entre de novo.",
      TOKEN_REVOKED: "O seu acesso foi terminado. Entre de novo.",
      LOGIN_NEEDED: "Esteve muito tempo sem atividade. Por segurança, entre de novo.",
      RATE_LIMITED: (facts) => `Foram muitos pedidos seguidos. Espere ${seconds(facts)} s e tente de novo.`,
      OVERLOADED: "Há muita gente a jogar. Nada foi feito; tente de novo dentro de momentos.",
      UNAVAILABLE: "O serviço não respondeu. Tente de novo dentro de momentos.",
      NOT_OFFERED: "Isto não está disponível aqui.",
      GAME_UNKNOWN: "Este jogo não está disponível de momento.",
      TOO_LARGE: "O texto é demasiado longo.",
    },
    internal: "Algo falhou do nosso lado e nada foi feito. Tente de novo; se voltar a acontecer, reclame.",
    unanswered: "A ligação falhou antes da resposta. Veja o saldo e a mesa antes de repetir.",
  },
  {
    byReason: {
      BETTING_CLOSED: "No more bets: yours came too late. You were not charged.",
      ROUND_ENDED: "That round has already ended. You were not charged.",
      INSUFFICIENT_FUNDS: (facts, mode) => {
        const [free, needed] = [amountFact(facts, "free_cents", mode), amountFact(facts, "needed_cents", mode)];
        return free && needed
          ? `Your balance is too low: you need ${needed} and have ${free} free. This bet was not placed; your others stand.`
          : "Your balance is too low for this bet. It was not placed; your others stand.";
      },
      BET_ILLEGAL: "There is no such bet at this table. You were not charged.",
      BET_NOT_OFFERED: "This table does not offer that bet. You were not charged.",
      BELOW_MINIMUM: (facts, mode) => {
        const minimum = amountFact(facts, "minimum_cents", mode);
        return minimum ? `The minimum on this place is ${minimum}.` : "The bet is below the minimum of this place.";
      },
      ABOVE_MAXIMUM: (facts, mode) => {
        const maximum = amountFact(facts, "maximum_cents", mode);
        return maximum
          ? `The maximum on this place is ${maximum} in all. The bet was not placed.`
          : "The bet is above the maximum of this place. It was not placed.";
      },
      ABOVE_TOTAL: (facts, mode) => {
        const maximum = amountFact(facts, "maximum_cents", mode);
        return maximum
          ? `The maximum for a round, all bets together, is ${maximum}. The bet was not placed.`
          : "The bet is above this table's maximum for a round. It was not placed.";
      },
      ODD_CENTS: "A bet on this place has to be an even number of cents.",
      OFF_STEP: (facts, mode) => {
        const step = amountFact(facts, "step_cents", mode);
        return step ? `Bets here are multiples of ${step}.` : "The amount is not a multiple of what is bet here.";
      },
      BETS_TOO_CLOSE: (facts, mode) => {
        const least = amountFact(facts, "difference_cents", mode);
        return least
          ? `Bets on both sides have to differ by ${least} or more. The bet was not placed.`
          : "Bets on both sides have to differ by the table's minimum or more. The bet was not placed.";
      },
      ABOVE_TABLE_LIMIT: (facts, mode) => {
        const limit = amountFact(facts, "limit_cents", mode);
        return limit
          ? `All players' bets together would exceed the table's limit of ${limit}. You were not charged.`
          : "All players' bets together would exceed the table's limit. You were not charged.";
      },
      PLACE_UNKNOWN: "This table has no such place.",
      PLACE_TAKEN: "That place is another player's. Choose a free one. You were not charged.",
      TOO_MANY_PLACES: (facts) =>
        facts["limit"]
          ? `At this table a player may bet on ${facts["limit"]} ${facts["limit"] === "1" ? "place" : "places"}, and no more.`
          : "You bet on as many places as you may at this table.",
      SEAT_TAKEN: "Another player sits there already. Choose a free seat.",
      CAVE_OUT_OF_BOUNDS: (facts, mode) => {
        const [least, most] = [amountFact(facts, "minimum_cents", mode), amountFact(facts, "maximum_cents", mode)];
        return least && most
          ? `You can bring from ${least} to ${most} to the cave. You were not charged.`
          : "Your cave does not take this amount. You were not charged.";
      },
      REST_REFUSED: "This table grants no more rests at the moment.",
      POST_REFUSED: "You cannot post the big blind to enter now. You are dealt in when it reaches your seat.",
      WAITING_LIST_FULL: "The waiting list of this table is full.",
      ALREADY_SEATED: "You sit at this table already.",
      OUTSIDE_PERIOD: "This table is only open during its session.",
      NOT_REGISTERED_FOR_PERIOD: "Only players who registered before the session began may sit at this table.",
      PERIOD_BEGUN: "Registration for this table has ended.",
      PERIOD_FULL: "There is no room for more registrations at this table.",
      SHARED_DEVICE: "Another account plays at this table from this device or connection. Choose another table.",
      TURN_OVER: "The decision came late: it was for an earlier turn. You were not charged.",
      NOT_YOUR_TURN: "Another seat decides now. Wait for your turn.",
      NOT_YOUR_PLACE: "On that place the player who bet there decides. You were not charged.",
      DECISION_ILLEGAL: "This hand does not allow that decision. You were not charged.",
      INSURANCE_REFUSED: (facts, mode) => {
        const limit = amountFact(facts, "limit_cents", mode);
        return limit
          ? `An insurance is at most half of the bet: ${limit} at most. You were not charged.`
          : "An insurance is at most half of the bet. You were not charged.";
      },
      ROUND_FULL:
        "This round has reached its limit of bets, and takes no others. Bet in the next one. You were not charged.",
      TOO_MANY_BETS:
        "You have bet and taken back as often as one can in this round. What lies on the table counts; bet in the next one.",
      PAYOUT_TOO_LARGE: "This bet could win more than is paid at this table. Bet less. You were not charged.",
      CANCEL_FORBIDDEN: "At this table, bets cannot be taken back.",
      NOT_ON_FELT: "That bet of yours is no longer on the table.",
      NOTHING_TO_REPEAT: "You have no earlier bets at this table to repeat.",
      NOTHING_STAKED: "Place a bet first.",
      NOT_SEATED: "You no longer sit at this table. Sit down again to bet.",
      SESSION_ENDED: "Your session at this table has ended. Sit down again to go on playing.",
      SESSION_RUNNING: "You already have a session running at this table.",
      SESSION_UNKNOWN: "We could not find that session.",
      SESSION_MISMATCH: "That session is of another table.",
      TABLE_UNKNOWN: "There is no such table, or it is no longer played.",
      TOURNAMENT_UNKNOWN: "There is no such tournament, or it is no longer listed.",
      REGISTRATION_CLOSED: "Registration for this tournament is closed. You were not charged.",
      ALREADY_REGISTERED: "You are registered for this tournament already. You were not charged again.",
      NOT_REGISTERED: "You are not registered for this tournament.",
      UNREGISTERING_CLOSED: "The registration can no longer be taken back: its time is over.",
      MORE_CHIPS_REFUSED: "You cannot buy more chips in this tournament at the moment. You were not charged.",
      TOURNAMENT_OVER: "This tournament is over, or was cancelled.",
      TOURNAMENT_CLOSED: "This tournament is over. You were not charged.",
      TICKET_UNKNOWN: "You have no such ticket. You were not charged.",
      TICKET_NOT_TRANSFERABLE:
        "This ticket is another player's: a won entry is neither sold nor passed on (810/2015, rule 28).",
      TICKET_UNUSABLE: ({ field }) =>
        field === "tournament_id"
          ? "This ticket is for another tournament."
          : field === "value_cents"
            ? "The value of this ticket is not the price of the entry."
            : "This ticket was used, or is no longer valid.",
      TABLE_ELSEWHERE: "We are moving this table to another server. Try again in a moment.",
      TABLE_DISABLED: (facts) =>
        facts["why"]
          ? `The table is closed. Reason: ${reasonText(facts["why"])}`
          : "The table is closed at the moment.",
      TABLE_FULL: (facts) =>
        facts["seats"] ? `All ${facts["seats"]} seats of this table are taken.` : "All seats of this table are taken.",
      WRONG_PLAY: "This table is not played in that way.",
      ROUND_UNKNOWN: "We could not find that round.",
      ROUND_MISMATCH: "That round is of another table.",
      ROUND_DECIDED: "The round already has a result.",
      ACCOUNT_UNKNOWN: "You have no account for real money yet.",
      ACCOUNT_BLOCKED: "Your account cannot play at the moment. Please contact customer support.",
      MODE_MISMATCH: "Demonstration credits and money do not mix: this table needs the other account.",
      AMOUNT_OUT_OF_RANGE: "The amount is larger than we can record. Nothing was done.",
      CAVE_INSUFFICIENT: "What you have at the table does not cover that bet.",
      COMPLAINT_UNKNOWN: "We could not find that complaint.",
      COMPLAINT_CLOSED: "The complaint is closed: nothing can be added any more.",
      COMPLAINTS_UNANSWERED: (facts) =>
        facts["limit"]
          ? `You have ${facts["limit"]} complaints waiting for an answer, which is the most. Add to one of them, or wait for an answer.`
          : "You have too many complaints waiting for an answer. Add to one of them, or wait for an answer.",
      SCOPE_MISSING: "You need to log in to your account for this.",
      TOKEN_INVALID: "You are not logged in properly. Please log in again.",
      TOKEN_EXPIRED: "Your login has expired. Please log in again.",
      TOKEN_REVOKED: "Your login was ended. Please log in again.",
      LOGIN_NEEDED: "You were inactive for a long time. For your safety, please log in again.",
      RATE_LIMITED: (facts) => `Those were many requests at once. Wait ${seconds(facts)} s and try again.`,
      OVERLOADED: "Many people are playing. Nothing was done; try again in a moment.",
      UNAVAILABLE: "The service did not answer. Try again in a moment.",
      NOT_OFFERED: "This is not available here.",
      GAME_UNKNOWN: "This game is not available at the moment.",
      TOO_LARGE: "The text is too long.",
    },
    internal: "Something failed on our side and nothing was done. Try again; if it happens once more, please complain.",
    unanswered: "The connection failed before the answer. Look at your balance and the table before you repeat.",
  },
);

/** Reasons that no action of a player causes: a fault of a program, or an operator's business. */
export const INTERNAL_REASONS: ReadonlySet<string> = new Set([
  "INVALID",
  "ANSWER_TOO_LARGE",
  "REQUEST_REUSED",
  "METHOD_UNKNOWN",
  "TOO_MANY_TABLES",
  "RULE_VIOLATED",
  "STALE_EPOCH",
  "EPOCH_TOO_HIGH",
  "WRONG_GAME",
  "TABLE_TAKEN",
  "NOT_YOURS",
  "TABLE_MISMATCH",
  "REQUEST_UNKNOWN",
  "STAKE_UNKNOWN",
  "CANCEL_EXCEEDS_STAKE",
  "STAKES_MISMATCH",
  "NOT_BALANCED",
  "COMPLAINT_NOT_ANSWERED",
  "POOL_INSUFFICIENT",
  "POOL_NOT_EMPTY",
  "PAY_IN_UNKNOWN",
  "TICKET_REFUND_MISMATCH",
  "TICKETS_OPEN",
]);

/** Whether there are words for a player who meets this reason. */
export function hasPlayerText(reason: string): boolean {
  return reason in texts().byReason;
}

/** `own` are a game's words, where they say more than these. */
export function refusalText(refusal: Refusal, mode: Unit, own: RefusalWords = {}): string {
  const { byReason, internal, unanswered } = texts();
  const phrase = own[refusal.reason] ?? byReason[refusal.reason];
  if (typeof phrase === "function") return phrase(refusal.facts, mode);
  return phrase ?? (refusal.reason ? internal : unanswered);
}
