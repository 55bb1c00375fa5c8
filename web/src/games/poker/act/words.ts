// The words of acting: buttons, bounds, decisions before the turn, the clock, and refusals.
import { dictionary } from "../../../words/language";
import { amount, cents } from "../../../words/money";
import type { RefusalWords } from "../../../words/refusals";
import type { PreActionKind } from "./pre_actions";
import type { PotPart } from "./raise_amounts";

interface ActWords {
  yourTurn: string;
  sending: string;
  fold: string;
  check: string;
  call: string;
  callAllIn: string;
  bet: string;
  raiseTo: string;
  allIn: string;
  raiseAmount: string;
  bounds: (minimum: string, maximum: string) => string;
  only: (amount: string) => string;
  noRaise: string;
  parts: Readonly<Record<PotPart, string>>;
  partsOf: string;
  partsLabel: string;
  foldAsk: string;
  foldDo: string;
  before: string;
  beforeHint: string;
  preActions: Readonly<Record<PreActionKind, string>>;
  justFold: string;
  clock: (seconds: number) => string;
  timeBank: string;
  timeBankLeft: (seconds: number) => string;
  timeBankWaits: (seconds: number) => string;
  paused: string;
  over: string;
  keys: string;
  refusals: RefusalWords;
}

export const actWords = dictionary<ActWords>(
  {
    yourTurn: "É a sua vez",
    sending: "A enviar…",
    fold: "Desistir",
    check: "Passar",
    call: "Acompanhar",
    callAllIn: "Acompanhar com tudo",
    bet: "Apostar",
    raiseTo: "Subir para",
    allIn: "tudo",
    raiseAmount: "A sua aposta passa a ser",
    bounds: (minimum, maximum) => `Pode apostar de ${minimum} a ${maximum}`,
    only: (bet) => `Pode apostar só ${bet}`,
    noRaise: "Nesta vez não pode subir a aposta",
    parts: { third: "1/3", half: "1/2", two_thirds: "2/3", pot: "Pote", max: "Máx." },
    partsOf: "do pote",
    partsLabel: "Escolher a aposta pelo pote",
    foldAsk: "Pode passar sem pagar nada. Quer mesmo desistir?",
    foldDo: "Desistir mesmo assim",
    before: "Quando for a sua vez",
    beforeHint: "Fica sem efeito se o valor mudar.",
    preActions: {
      check_or_fold: "Passar ou desistir",
      check: "Passar",
      call: "Acompanhar",
      call_any: "Acompanhar tudo",
    },
    justFold: "Desistir",
    clock: (s) => (s === 1 ? "Falta 1 segundo" : `Faltam ${s} segundos`),
    timeBank: "Banco de tempo",
    timeBankLeft: (s) => `Está a gastar o banco de tempo: ${s === 1 ? "falta 1 segundo" : `faltam ${s} segundos`}`,
    timeBankWaits: (s) => `+ ${s} s do banco de tempo`,
    paused: "O relógio está parado: a ligação falhou do nosso lado.",
    over: "O tempo acabou",
    keys: "Teclas: F, C e R; setas para mais e menos; 1 a 5 para partes do pote.",
    refusals: {
      BELOW_MINIMUM: (facts, mode) =>
        `Essa aposta é pequena demais. Pode apostar de ${amount(cents(facts["minimum_cents"]), mode)} a ${amount(cents(facts["maximum_cents"]), mode)}. Não lhe custou nada.`,
      ABOVE_MAXIMUM: (facts, mode) =>
        `Essa aposta é grande demais. Pode apostar de ${amount(cents(facts["minimum_cents"]), mode)} a ${amount(cents(facts["maximum_cents"]), mode)}. Não lhe custou nada.`,
      DECISION_ILLEGAL: (facts, mode) => {
        const [call, most] = [cents(facts["to_call_cents"]), cents(facts["max_to_cents"])];
        const stay = call ? `acompanhar com ${amount(call, mode)}` : "passar";
        const raise = most
          ? `, ou apostar de ${amount(cents(facts["min_to_cents"]), mode)} a ${amount(most, mode)}`
          : "";
        return `Essa decisão não é possível agora. Pode desistir, ${stay}${raise}. Não lhe custou nada.`;
      },
      TURN_OVER: "A decisão chegou tarde: já não era a sua vez. Não lhe custou nada.",
      NOT_YOUR_TURN: "Ainda não é a sua vez.",
    },
  },
  {
    yourTurn: "Your turn",
    sending: "Sending…",
    fold: "Fold",
    check: "Check",
    call: "Call",
    callAllIn: "Call all-in",
    bet: "Bet",
    raiseTo: "Raise to",
    allIn: "all-in",
    raiseAmount: "Your bet becomes",
    bounds: (minimum, maximum) => `You can bet ${minimum} to ${maximum}`,
    only: (bet) => `You can bet only ${bet}`,
    noRaise: "You cannot raise in this turn",
    parts: { third: "1/3", half: "1/2", two_thirds: "2/3", pot: "Pot", max: "Max" },
    partsOf: "of the pot",
    partsLabel: "Choose the bet by the pot",
    foldAsk: "You can check for nothing. Do you really want to fold?",
    foldDo: "Fold all the same",
    before: "When your turn comes",
    beforeHint: "It is cancelled if the amount changes.",
    preActions: {
      check_or_fold: "Check or fold",
      check: "Check",
      call: "Call",
      call_any: "Call any",
    },
    justFold: "Fold",
    clock: (s) => (s === 1 ? "1 second left" : `${s} seconds left`),
    timeBank: "Time bank",
    timeBankLeft: (s) => `You are using your time bank: ${s === 1 ? "1 second left" : `${s} seconds left`}`,
    timeBankWaits: (s) => `+ ${s} s of your time bank`,
    paused: "The clock stands still: the connection failed on our side.",
    over: "Time is over",
    keys: "Keys: F, C and R; arrows for more and less; 1 to 5 for parts of the pot.",
    refusals: {
      BELOW_MINIMUM: (facts, mode) =>
        `That bet is too small. You can bet ${amount(cents(facts["minimum_cents"]), mode)} to ${amount(cents(facts["maximum_cents"]), mode)}. It cost you nothing.`,
      ABOVE_MAXIMUM: (facts, mode) =>
        `That bet is too large. You can bet ${amount(cents(facts["minimum_cents"]), mode)} to ${amount(cents(facts["maximum_cents"]), mode)}. It cost you nothing.`,
      DECISION_ILLEGAL: (facts, mode) => {
        const [call, most] = [cents(facts["to_call_cents"]), cents(facts["max_to_cents"])];
        const stay = call ? `call ${amount(call, mode)}` : "check";
        const raise = most ? `, or bet ${amount(cents(facts["min_to_cents"]), mode)} to ${amount(most, mode)}` : "";
        return `That decision is not possible now. You can fold, ${stay}${raise}. It cost you nothing.`;
      },
      TURN_OVER: "The decision came too late: it was no longer your turn. It cost you nothing.",
      NOT_YOUR_TURN: "It is not your turn yet.",
    },
  },
);
