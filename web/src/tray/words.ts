// The words of the tray: chips, stakes, actions, and why an action is not possible.
import type { Blocked } from "../bets/bet_slip";
import { dictionary } from "../words/language";

type BlockedReason = Exclude<Blocked, null>;

export const trayWords = dictionary(
  {
    chips: "Fichas",
    chip: (amount: string) => `Ficha de ${amount}`,
    staked: "Na mesa",
    unit: "Ficha",
    onTable: (amount: string) => `na mesa ${amount}`,
    waiting: (amount: string) => `${amount} a caminho`,
    undo: "Desfazer",
    clear: "Limpar",
    repeat: "Repetir",
    double: "Dobrar",
    undoHint: "Retira a última ficha (Backspace)",
    clearHint: "Retira todas as fichas",
    repeatHint: "Põe de novo as apostas da última jogada (R)",
    doubleHint: "O mesmo outra vez em todas as posições (D)",
    blocked: {
      closed: "De momento não se aceitam apostas.",
      nothing: "Ainda não tem fichas na mesa.",
      forbidden: "Nesta mesa as apostas feitas não se podem retirar.",
      limit: "Passaria o máximo de uma posição ou da mesa.",
      funds: "O saldo não chega.",
      no_earlier_bets: "Ainda não tem apostas anteriores nesta mesa para repetir.",
    } satisfies Record<BlockedReason, string>,
    closeNotice: "Fechar este aviso",
    cashier: "Ir para a caixa",
  },
  {
    chips: "Chips",
    chip: (amount: string) => `Chip of ${amount}`,
    staked: "On the table",
    unit: "Chip",
    onTable: (amount: string) => `${amount} on the table`,
    waiting: (amount: string) => `${amount} on its way`,
    undo: "Undo",
    clear: "Clear",
    repeat: "Repeat",
    double: "Double",
    undoHint: "Takes the last chip back (Backspace)",
    clearHint: "Takes all chips back",
    repeatHint: "Places the bets of your last round again (R)",
    doubleHint: "The same again on every place (D)",
    blocked: {
      closed: "No bets are taken at the moment.",
      nothing: "You have no chips on the table yet.",
      forbidden: "At this table, bets cannot be taken back.",
      limit: "It would be above the maximum of a place or of the table.",
      funds: "Your balance is too low.",
      no_earlier_bets: "You have no earlier bets at this table to repeat.",
    },
    closeNotice: "Close this message",
    cashier: "Go to the cashier",
  },
);
