// A table's phase in a croupier's words, for a player who wants to bet. Independent of the game.
import type { LocalizedText, TableSnapshot } from "../../api/messages";
import { dictionary, inLanguage } from "../../words/language";
import { reasonText } from "../../words/reasons";

const phaseTextWords = dictionary(
  {
    bets: "Façam as vossas apostas",
    ownPaceAny: "Sem tempo marcado",
    noMore: "Jogo feito, nada mais",
    yourTurn: "É a sua vez",
    turnOf: (seats: string) => `Decide o lugar ${seats}`,
    turnOfMany: (seats: string) => `Decidem os lugares ${seats}`,
    decides: "A jogada está a decorrer",
    shown: "Jogada terminada",
    nextIn: (s: number) => (s > 0 ? `Próxima jogada dentro de ${s} s` : "A próxima jogada está a abrir"),
    next: "A próxima jogada está a abrir",
    resting: "À espera de jogadores",
    restingHint: "A jogada abre assim que alguém se sentar",
    opening: "A abrir a jogada",
    disabled: "Mesa encerrada",
    why: (reason: string) => `Motivo: ${reason}`,
    disabledHint: "Não se aceitam apostas nesta mesa",
    void: "Jogada nula",
  },
  {
    bets: "Place your bets",
    ownPaceAny: "No time limit",
    noMore: "No more bets",
    yourTurn: "Your turn",
    turnOf: (seats: string) => `Seat ${seats} decides`,
    turnOfMany: (seats: string) => `Seats ${seats} decide`,
    decides: "The round is under way",
    shown: "Round over",
    nextIn: (s: number) => (s > 0 ? `Next round in ${s} s` : "The next round is opening"),
    next: "The next round is opening",
    resting: "Waiting for players",
    restingHint: "A round opens as soon as somebody sits down",
    opening: "The round is opening",
    disabled: "Table closed",
    why: (reason: string) => `Reason: ${reason}`,
    disabledHint: "No bets are taken at this table",
    void: "Void round",
  },
);

export type Stage = "bets" | "closed" | "turn" | "shown" | "void" | "resting" | "disabled";

/** What the text depends on besides the snapshot. */
export interface PhaseContext {
  individual: boolean;
  now: number;
  /** The result is still being shown: the text does not reveal it. */
  resultPending: boolean;
  voidWords?: LocalizedText | undefined;
  seated: boolean;
  /** Below the invitation to bet, where the player starts the round. */
  ownPace: string;
  /** The game's words for what happens between the last bet and the result. */
  unfolding?: string | undefined;
  /** Cards are being dealt on the screen: no time to decide runs. */
  dealing?: boolean;
  /** The player's own seat. */
  seat?: number | undefined;
}

export interface PhaseText {
  stage: Stage;
  /** What the croupier says; a screen reader announces changes. */
  headline: string;
  detail: string;
  /** While a clock limits the betting, or a decision. */
  remaining_ms?: number;
  window_ms?: number;
}

export function phaseText(table: TableSnapshot | null, context: PhaseContext): PhaseText {
  const words = phaseTextWords();
  switch (table?.phase) {
    case "PHASE_BETTING":
      return bettingText(table, context);
    case "PHASE_CLOSED":
    case "PHASE_DRAWN":
      return closedText(context);
    case "PHASE_PLAYING":
      return turnText(table, context);
    case "PHASE_RESULT_SHOWN": {
      if (context.voidWords) return { stage: "void", headline: words.void, detail: inLanguage(context.voidWords) };
      if (context.resultPending) return closedText(context);
      return { stage: "shown", headline: words.shown, detail: nextRoundText(table, context) };
    }
    case "PHASE_DISABLED": {
      const detail = table.disabled_reason ? words.why(reasonText(table.disabled_reason)) : words.disabledHint;
      return { stage: "disabled", headline: words.disabled, detail };
    }
    default:
      if (context.seated) return { stage: "resting", headline: words.opening, detail: "" };
      return { stage: "resting", headline: words.resting, detail: words.restingHint };
  }
}

function closedText({ unfolding = "" }: PhaseContext): PhaseText {
  return { stage: "closed", headline: phaseTextWords().noMore, detail: unfolding };
}

/** Whose turn it is, and how long they have; individual tables set no time that is worth counting down. */
function turnText(table: TableSnapshot, context: PhaseContext): PhaseText {
  const words = phaseTextWords();
  const turn = table.round?.turn;
  if (context.dealing || !turn?.seats.length) return closedText(context);
  const own = context.seat !== undefined && turn.seats.includes(context.seat);
  const others = (turn.seats.length > 1 ? words.turnOfMany : words.turnOf)(turn.seats.join(", "));
  const text: PhaseText = { stage: "turn", headline: own ? words.yourTurn : others, detail: own ? "" : words.decides };
  const window_ms = table.configuration?.decision_ms ?? 0;
  if (context.individual || !turn.decide_by || !window_ms) return text;
  const remaining_ms = Math.min(Math.max(0, Date.parse(turn.decide_by) - context.now), window_ms);
  return { ...text, remaining_ms, window_ms };
}

function nextRoundText({ next_round_opens_at }: TableSnapshot, { now }: PhaseContext): string {
  if (!next_round_opens_at) return "";
  return phaseTextWords().nextIn(Math.max(0, Math.ceil((Date.parse(next_round_opens_at) - now) / 1000)));
}

function bettingText(table: TableSnapshot, context: PhaseContext): PhaseText {
  const words = phaseTextWords();
  const closes = table.round?.closes_at;
  if (!closes) {
    // At an individual table the next round takes bets while the last result is still being shown.
    if (context.resultPending) return closedText(context);
    return { stage: "bets", headline: words.bets, detail: context.individual ? context.ownPace : words.ownPaceAny };
  }
  const opened = table.round?.opened_at;
  const whole_ms = opened ? Date.parse(closes) - Date.parse(opened) : (table.configuration?.betting_window_ms ?? 0);
  const window_ms = Math.max(whole_ms, 1);
  // The known server time may lag a little: never show more than the window.
  const remaining_ms = Math.min(Math.max(0, Date.parse(closes) - context.now), window_ms);
  return { stage: "bets", headline: words.bets, detail: "", remaining_ms, window_ms };
}
