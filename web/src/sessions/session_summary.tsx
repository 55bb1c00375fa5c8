// The summary of a session: staked, won, the difference, and how long it took (804/2015:26).
import type { Session, SessionSummary } from "../api/messages";
import { dictionary } from "../words/language";
import { amount, cents } from "../words/money";
import { dateTime, duration } from "../words/times";
import "./session_summary.css";

const sessionSummaryWords = dictionary(
  {
    won: "Ganhou nesta sessão",
    lost: "Perdeu nesta sessão",
    even: "Ficou como começou",
    staked: "Total apostado",
    back: "Total recebido",
    backHint: "prémios e apostas devolvidas com eles",
    rounds: "Jogadas",
    start: "Início",
    end: "Fim",
    played: "Tempo de jogo",
    commission: "Comissões",
    deposited: "Depósitos",
    withdrawn: "Levantamentos",
    cause: "Porque terminou",
    running: "Ainda a decorrer",
    causes: {
      END_CAUSE_PLAYER: "Terminou-a por sua decisão.",
      END_CAUSE_INACTIVITY: "Não apostou depois do convite e do aviso.",
      END_CAUSE_OPERATOR: "Foi terminada por nós.",
      END_CAUSE_LOGOUT: "Saiu da conta.",
    } as Record<string, string>,
  },
  {
    won: "You won in this session",
    lost: "You lost in this session",
    even: "You are where you began",
    staked: "Total staked",
    back: "Total paid back",
    backHint: "prizes, and the stakes returned with them",
    rounds: "Rounds",
    start: "Start",
    end: "End",
    played: "Time played",
    commission: "Commissions",
    deposited: "Deposits",
    withdrawn: "Withdrawals",
    cause: "Why it ended",
    running: "Still running",
    causes: {
      END_CAUSE_PLAYER: "You ended it.",
      END_CAUSE_INACTIVITY: "You did not bet after the invitation and the warning.",
      END_CAUSE_OPERATOR: "We ended it.",
      END_CAUSE_LOGOUT: "You logged out.",
    } as Record<string, string>,
  },
);

/** Whether the player won, lost, or neither. */
export function sessionNetText(net: number): string {
  const { won, lost, even } = sessionSummaryWords();
  return net > 0 ? won : net < 0 ? lost : even;
}

export function SessionSummaryView({ session, summary }: { session: Session; summary: SessionSummary | undefined }) {
  const words = sessionSummaryWords();
  const { mode } = session;
  const net = cents(summary?.net_cents);
  const lines: [string, string, string?][] = [];
  if (summary) {
    lines.push([words.staked, amount(cents(summary.staked_cents), mode)]);
    lines.push([words.back, amount(cents(summary.payout_cents), mode), words.backHint]);
    if (cents(summary.commission_cents)) lines.push([words.commission, amount(cents(summary.commission_cents), mode)]);
    lines.push([words.rounds, String(summary.rounds)], [words.played, duration(Number(summary.duration_ms) / 1000)]);
  }
  lines.push([words.start, dateTime(session.started_at)]);
  lines.push([words.end, session.ended_at ? dateTime(session.ended_at) : words.running]);
  if (summary && mode !== "MODE_DEMO") {
    lines.push([words.deposited, amount(cents(summary.deposited_cents), mode)]);
    lines.push([words.withdrawn, amount(cents(summary.withdrawn_cents), mode)]);
  }
  const cause = session.ended_at ? words.causes[session.end_cause] : undefined;
  if (cause) lines.push([words.cause, cause]);
  return (
    <div class="summary" data-testid="summary">
      {summary && (
        <p class={`summary-net ${net > 0 ? "good" : ""}`} data-testid="summary-net" data-cents={summary.net_cents}>
          <span>{sessionNetText(net)}</span>
          <strong class="figures">{amount(Math.abs(net), mode)}</strong>
        </p>
      )}
      <dl class="facts">
        {lines.map(([name, value, hint]) => (
          <div key={name}>
            <dt>
              {name}
              {hint && <small>{hint}</small>}
            </dt>
            <dd class="figures">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
