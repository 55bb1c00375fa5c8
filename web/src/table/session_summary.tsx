// What a session came to: staked, won, the difference, and how long it took (804/2015:26).
import type { Session, SessionSummary } from "../api/messages";
import { dictionary } from "../words/language";
import { moment, seconds, span } from "../words/moments";
import { amount, cents } from "../words/money";
import "./session_summary.css";

const words = dictionary(
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

/** In a word: won, lost, or neither. */
export function netWords(net: number): string {
  const { won, lost, even } = words();
  return net > 0 ? won : net < 0 ? lost : even;
}

export function SummaryOfSession({ session, summary }: { session: Session; summary: SessionSummary | undefined }) {
  const say = words();
  const { mode } = session;
  const net = cents(summary?.net_cents);
  const lines: [string, string, string?][] = [];
  if (summary) {
    lines.push([say.staked, amount(cents(summary.staked_cents), mode)]);
    lines.push([say.back, amount(cents(summary.won_cents), mode), say.backHint]);
    if (cents(summary.commission_cents)) lines.push([say.commission, amount(cents(summary.commission_cents), mode)]);
    lines.push([say.rounds, String(summary.rounds)], [say.played, span(seconds(summary.played))]);
  }
  lines.push([say.start, moment(session.started_at)]);
  lines.push([say.end, session.ended_at ? moment(session.ended_at) : say.running]);
  if (summary && mode !== "MODE_DEMO") {
    lines.push([say.deposited, amount(cents(summary.deposited_cents), mode)]);
    lines.push([say.withdrawn, amount(cents(summary.withdrawn_cents), mode)]);
  }
  const cause = session.ended_at ? say.causes[session.end_cause] : undefined;
  if (cause) lines.push([say.cause, cause]);
  return (
    <div class="summary" data-testid="summary">
      {summary && (
        <p class={`summary-net ${net > 0 ? "good" : ""}`} data-testid="summary-net" data-cents={summary.net_cents}>
          <span>{netWords(net)}</span>
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
