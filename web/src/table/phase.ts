// What a table's phase means to somebody who wants to bet, in the words of a croupier. It knows no game.
import type { TableSnapshot, Words } from "../api/messages";
import { dictionary, said } from "../words/language";
import { reasonWords } from "../words/reasons";

const words = dictionary(
  {
    bets: "Façam as vossas apostas",
    ownPace: "Lance a bola quando quiser",
    ownPaceAny: "Sem tempo marcado",
    noMore: "Jogo feito, nada mais",
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
    ownPace: "Launch the ball whenever you like",
    ownPaceAny: "No time limit",
    noMore: "No more bets",
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

export type Stage = "bets" | "closed" | "shown" | "void" | "resting" | "disabled";

/** What is known beside the picture of the table. */
export interface Beside {
  individual: boolean;
  now: number;
  /** The result is still being shown happening: nothing is said of it yet. */
  unfolding: boolean;
  nextRoundAt?: string | undefined;
  voidWords?: Words | undefined;
  seated: boolean;
}

export interface Telling {
  stage: Stage;
  /** What the croupier says; a screen reader hears it when it changes. */
  headline: string;
  detail: string;
  /** While bets are taken by the clock. */
  remaining_ms?: number;
  window_ms?: number;
}

export function tell(table: TableSnapshot | null, beside: Beside): Telling {
  const say = words();
  switch (table?.phase) {
    case "PHASE_BETTING":
      return betting(table, beside);
    case "PHASE_CLOSED":
    case "PHASE_DRAWN":
      return { stage: "closed", headline: say.noMore, detail: "" };
    case "PHASE_SHOWN": {
      if (beside.voidWords) return { stage: "void", headline: say.void, detail: said(beside.voidWords) };
      if (beside.unfolding) return { stage: "closed", headline: say.noMore, detail: "" };
      return { stage: "shown", headline: say.shown, detail: nextIn(table, beside) };
    }
    case "PHASE_DISABLED": {
      const detail = table.disabled_reason ? say.why(reasonWords(table.disabled_reason)) : say.disabledHint;
      return { stage: "disabled", headline: say.disabled, detail };
    }
    default:
      if (beside.seated) return { stage: "resting", headline: say.opening, detail: "" };
      return { stage: "resting", headline: say.resting, detail: say.restingHint };
  }
}

/** Whoever came after the settlement was not told when the next round opens: soon after the draw it can be reckoned. */
function nextIn(table: TableSnapshot, { nextRoundAt, now }: Beside): string {
  const shown_ms = table.configuration?.result_shown_ms ?? 0;
  const at = nextRoundAt ? Date.parse(nextRoundAt) : Date.parse(table.past[0]?.drawn_at ?? "") + shown_ms;
  const left_s = Math.ceil((at - now) / 1000);
  if (nextRoundAt || left_s > 0) return words().nextIn(Math.max(0, left_s));
  return "";
}

function betting(table: TableSnapshot, beside: Beside): Telling {
  const say = words();
  const closes = table.round?.closes_at;
  if (!closes) {
    // Alone at a table, the next round takes bets while the ball of the last one still rolls before his eyes.
    if (beside.unfolding) return { stage: "closed", headline: say.noMore, detail: "" };
    return { stage: "bets", headline: say.bets, detail: beside.individual ? say.ownPace : say.ownPaceAny };
  }
  const opened = table.round?.opened_at;
  const whole_ms = opened ? Date.parse(closes) - Date.parse(opened) : (table.configuration?.betting_window_ms ?? 0);
  const window_ms = Math.max(whole_ms, 1);
  // What is known of the server's clock is a little late: never more is left than there is.
  const remaining_ms = Math.min(Math.max(0, Date.parse(closes) - beside.now), window_ms);
  return { stage: "bets", headline: say.bets, detail: "", remaining_ms, window_ms };
}
