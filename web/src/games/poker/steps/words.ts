// The words of a hand that is stepped through.
import { dictionary } from "../../../words/language";
import type { Action, Street } from "../messages/messages";

interface StepWords {
  title: string;
  first: string;
  back: string;
  next: string;
  last: string;
  play: string;
  pause: string;
  step: (at: number, of: number) => string;
  seat: (seat: number) => string;
  you: string;
  blinds: string;
  streets: Readonly<Record<Street, string>>;
  showdown: string;

  acted: Readonly<Record<Action, (who: string, amount: string) => string>>;
  allIn: string;
  byClock: string;
  byPlatform: string;
  paid: (who: string, amount: string) => string;
  commission: (amount: string) => string;
  download: string;
  keys: string;
}

export const stepWords = dictionary<StepWords>(
  {
    title: "A jogada passo a passo",
    first: "Início",
    back: "Anterior",
    next: "Seguinte",
    last: "Fim",
    play: "Ver tudo",
    pause: "Parar",
    step: (at, of) => `Passo ${at} de ${of}`,
    seat: (seat) => `Lugar ${seat}`,
    you: "Você",
    blinds: "Pequena e grande aposta; as cartas são dadas.",
    streets: {
      STREET_UNSPECIFIED: "",
      STREET_PREFLOP: "Antes do flop",
      STREET_FLOP: "Flop",
      STREET_TURN: "Turn",
      STREET_RIVER: "River",
    },
    showdown: "As cartas viram-se.",
    acted: {
      ACTION_FOLD: (who) => `${who} desistiu`,
      ACTION_CHECK: (who) => `${who} passou`,
      ACTION_CALL: (who, amount) => `${who} acompanhou com ${amount}`,
      ACTION_RAISE: (who, amount) => `${who} subiu a aposta para ${amount}`,
    },
    allIn: "com tudo",
    byClock: "o tempo acabou",
    byPlatform: "já não estava à mesa",
    paid: (who, amount) => `${who} recebe ${amount}`,
    commission: (amount) => `Comissão: ${amount}`,
    download: "Guardar a jogada (PHH)",
    keys: "Setas para a esquerda e a direita, Início e Fim.",
  },
  {
    title: "The hand step by step",
    first: "Beginning",
    back: "Back",
    next: "Next",
    last: "End",
    play: "Play all",
    pause: "Stop",
    step: (at, of) => `Step ${at} of ${of}`,
    seat: (seat) => `Seat ${seat}`,
    you: "You",
    blinds: "Small and big blind; the cards are dealt.",
    streets: {
      STREET_UNSPECIFIED: "",
      STREET_PREFLOP: "Before the flop",
      STREET_FLOP: "Flop",
      STREET_TURN: "Turn",
      STREET_RIVER: "River",
    },
    showdown: "The cards are turned up.",
    acted: {
      ACTION_FOLD: (who) => `${who} folded`,
      ACTION_CHECK: (who) => `${who} checked`,
      ACTION_CALL: (who, amount) => `${who} called ${amount}`,
      ACTION_RAISE: (who, amount) => `${who} raised to ${amount}`,
    },
    allIn: "all-in",
    byClock: "time was over",
    byPlatform: "had left the table",
    paid: (who, amount) => `${who} ${who === "You" ? "get" : "gets"} ${amount}`,
    commission: (amount) => `Commission: ${amount}`,
    download: "Keep the hand (PHH)",
    keys: "Arrows left and right, Home and End.",
  },
);
