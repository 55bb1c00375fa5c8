// The invitation to leave for a player who does not bet, then the warning: cards beside the game, which goes on.
import { useEffect, useState } from "preact/hooks";
import type { TableConfiguration } from "../../api/messages";
import { Icon } from "../../design/icon";
import { useServerNow, useSessionNow } from "../../design/use_clock";
import { dictionary } from "../../words/language";
import { timeOfDay } from "../../words/times";
import type { LiveTable } from "../live/live_table";
import { resultPending } from "../live/result_pending";
import { type Inactivity, inactivityLimit, inactivityState } from "./inactivity";
import "./inactivity_notice.css";

const inactivityNoticeWords = dictionary(
  {
    idleMinutes: (n: number) => `Não aposta há mais de ${n} ${n === 1 ? "minuto" : "minutos"}.`,
    idleRounds: (n: number) => `Não aposta há mais de ${n} jogadas seguidas.`,
    wish: "Deseja terminar a sessão?",
    onlyBets: "Pode ficar. Só uma aposta retira este convite.",
    title: "A sessão vai terminar se não apostar",
    seconds: (n: number) => (n === 1 ? "Falta 1 segundo para apostar." : `Faltam ${n} segundos para apostar.`),
    thisRound: "Tem de apostar nesta jogada. Se ela acabar sem uma aposta sua, a sessão termina.",
    until: (time: string) => `A sessão termina às ${time}, a menos que aposte até lá.`,
    stay: "Continuar a jogar",
    willBet: "Vou apostar",
    pill: (left: number | null) => (left === null ? "Aposte nesta jogada" : `Aposte dentro de ${left} s`),
    pillHint: "Mostrar o aviso",
    end: "Terminar a sessão",
    rule: (rule: string) => `Regulamento n.º ${rule.replace(":", ", regra ")}`,
    region: "Aviso de inatividade",
  },
  {
    idleMinutes: (n: number) => `You have not bet for more than ${n} ${n === 1 ? "minute" : "minutes"}.`,
    idleRounds: (n: number) => `You have not bet in more than ${n} rounds in a row.`,
    wish: "Would you like to end the session?",
    onlyBets: "You may stay. Only a bet withdraws this invitation.",
    title: "The session will end unless you bet",
    seconds: (n: number) => (n === 1 ? "1 second left to bet." : `${n} seconds left to bet.`),
    thisRound: "You have to bet in this round. If it ends without a bet of yours, the session ends.",
    until: (time: string) => `The session ends at ${time} unless you bet before.`,
    stay: "Go on playing",
    willBet: "I am going to bet",
    pill: (left: number | null) => (left === null ? "Bet in this round" : `Bet within ${left} s`),
    pillHint: "Show the warning",
    end: "End the session",
    rule: (rule: string) => `Regulation no. ${rule.replace(":", ", rule ")}`,
    region: "Notice of inactivity",
  },
);

interface Props {
  table: LiveTable;
  onEnd: () => void;
}

export function InactivityNotice({ table, onEnd }: Props) {
  const configuration = table.snapshot.value?.configuration;
  const inactivity = inactivityState(table.session.value, table.notice.value, configuration?.play);
  const [closed, setClosed] = useState<Inactivity["kind"] | null>(null);
  const kind = inactivity?.kind ?? null;
  useEffect(() => {
    // A closed card stays closed until there is another kind of notice.
    if (kind !== closed) setClosed(null);
  }, [kind, closed]);
  if (!inactivity || closed === kind) return null;
  // An invitation waits until the result has been shown; a warning does not.
  if (inactivity.kind === "invitation" && resultPending.value) return null;
  return inactivity.kind === "invitation" ? (
    <Invitation
      inactivity={inactivity}
      configuration={configuration}
      onStay={() => setClosed("invitation")}
      onEnd={onEnd}
    />
  ) : (
    <Warning inactivity={inactivity} closesAt={closing(table)} onEnd={onEnd} />
  );
}

/** At a table for many: until when the current round takes bets. */
function closing(table: LiveTable): string | undefined {
  const snapshot = table.snapshot.value;
  return snapshot?.phase === "PHASE_BETTING" ? snapshot.round?.closes_at : undefined;
}

interface InvitationProps {
  inactivity: Inactivity;
  configuration: TableConfiguration | undefined;
  onStay: () => void;
  onEnd: () => void;
}

function Invitation({ inactivity, configuration, onStay, onEnd }: InvitationProps) {
  const words = inactivityNoticeWords();
  const waited = inactivityLimit(configuration);
  return (
    <section class="inactivity" aria-label={words.region} data-testid="invitation">
      <div role="status">
        <h2>
          {"seconds" in waited ? words.idleMinutes(Math.floor(waited.seconds / 60)) : words.idleRounds(waited.rounds)}
        </h2>
        <p>
          {words.wish} <span class="quiet">{words.onlyBets}</span>
        </p>
      </div>
      <Choice first={words.stay} onFirst={onStay} onEnd={onEnd} rule={inactivity.rule} />
    </section>
  );
}

interface ChoiceProps {
  /** What the player does who goes on. */
  first: string;
  onFirst: () => void;
  onEnd: () => void;
  rule: string | undefined;
}

/** The player goes on or ends the session; below, the rule that the notice follows. */
function Choice({ first, onFirst, onEnd, rule }: ChoiceProps) {
  const words = inactivityNoticeWords();
  return (
    <>
      <div class="row">
        <button type="button" class="button first" onClick={onFirst}>
          {first}
        </button>
        <button type="button" class="button" onClick={onEnd}>
          {words.end}
        </button>
      </div>
      {rule && <small>{words.rule(rule)}</small>}
    </>
  );
}

interface WarningProps {
  inactivity: Extract<Inactivity, { kind: "warning" }>;
  closesAt: string | undefined;
  onEnd: () => void;
}

function Warning({ inactivity, closesAt, onEnd }: WarningProps) {
  const words = inactivityNoticeWords();
  // A player who is about to bet needs to see the felt: the warning shrinks to its countdown.
  const [small, setSmall] = useState(false);
  const { endsAt } = inactivity;
  const until = endsAt ?? closesAt;
  // Sessions follow one clock, betting windows another.
  const sessionNow = useSessionNow(endsAt ? 250 : 0);
  const serverNow = useServerNow(!endsAt && closesAt ? 250 : 0);
  const now = endsAt ? sessionNow : serverNow;
  const left = until ? Math.max(0, Math.ceil((Date.parse(until) - now) / 1000)) : null;
  if (small) {
    return (
      <button
        type="button"
        class="inactivity-pill figures"
        title={words.pillHint}
        onClick={() => setSmall(false)}
        data-testid="warning-small"
      >
        <Icon name="warning" />
        {words.pill(left)}
      </button>
    );
  }
  return (
    <section class="inactivity inactivity-warning" aria-label={words.region} data-testid="warning">
      <div class="inactivity-head">
        <Icon name="warning" />
        <div>
          <div role="alert">
            <h2>{words.title}</h2>
            <p>{endsAt ? words.until(timeOfDay(endsAt)) : words.thisRound}</p>
          </div>
          {left !== null && (
            <p class="figures">
              <strong>{words.seconds(left)}</strong>
            </p>
          )}
        </div>
      </div>
      <Choice first={words.willBet} onFirst={() => setSmall(true)} onEnd={onEnd} rule={inactivity.rule} />
    </section>
  );
}
