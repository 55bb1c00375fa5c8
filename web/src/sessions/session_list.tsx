// The player's sessions, newest first, each with its summary.
import { useState } from "preact/hooks";
import type { Session, SessionSummary } from "../api/messages";
import { call, identity } from "../api/platform";
import { Refusal } from "../api/refusal";
import { addressOf } from "../browser/routes";
import { ComplaintSheet } from "../complaints/complaint_sheet";
import { Sheet } from "../design/overlays/sheet";
import { notify } from "../design/overlays/toast";
import { PagedList } from "../paging/paged_list";
import { pageRequest, usePages } from "../paging/pages";
import { listedId, listedTable } from "../tables/tables";
import { dictionary, inLanguage } from "../words/language";
import { refusalText } from "../words/refusals";
import { dateTime, duration } from "../words/times";
import { SessionSummaryView } from "./session_summary";

const PAGE = 20;

const sessionWords = dictionary(
  {
    sessionsNone: "Ainda não teve nenhuma sessão.",
    running: "A decorrer",
    ending: "A terminar",
    goOn: "Continuar",
    summary: "Resumo",
    summaryOf: (name: string) => `Resumo da sessão: ${name}`,
    complain: "Reclamar desta sessão",
    close: "Fechar",
    onSession: (when: string) => `que começou em ${when}`,
  },
  {
    sessionsNone: "You have not had a session yet.",
    running: "Running",
    ending: "Ending",
    goOn: "Continue",
    summary: "Summary",
    summaryOf: (name: string) => `Summary of the session: ${name}`,
    complain: "Complain about this session",
    close: "Close",
    onSession: (when: string) => `that began on ${when}`,
  },
);

export function SessionList() {
  const words = sessionWords();
  const playerId = identity.value.kind === "nobody" ? "" : identity.value.playerId;
  const [opened, setOpened] = useState<{ session: Session; summary: SessionSummary | undefined } | null>(null);
  const [complaintSession, setComplaintSession] = useState<Session | null>(null);
  const pages = usePages<Session>(playerId, async (token) => {
    const found = await call("SessionService.ListSessions", {
      player_id: playerId,
      ...pageRequest(PAGE, token),
    });
    return { items: found.sessions, next: found.next_page_token };
  });
  const show = async (session_id: string) => {
    try {
      const { session, summary } = await call("SessionService.GetSession", { session_id });
      if (session) setOpened({ session, summary });
    } catch (error) {
      if (error instanceof Refusal) notify(refusalText(error, "MODE_REAL"), "bad");
    }
  };
  return (
    <>
      <PagedList pages={pages} icon="clock" nothing={words.sessionsNone}>
        {(sessions) => (
          <ul class="account-lines">
            {sessions.map((session) => (
              <SessionLine key={session.session_id} session={session} onShow={() => void show(session.session_id)} />
            ))}
          </ul>
        )}
      </PagedList>
      {opened && (
        <Sheet
          title={words.summaryOf(tableName(opened.session))}
          onClose={() => setOpened(null)}
          testId="session-sheet"
          actions={
            <>
              <button
                type="button"
                class="button"
                onClick={() => {
                  setComplaintSession(opened.session);
                  setOpened(null);
                }}
              >
                {words.complain}
              </button>
              <button type="button" class="button first" onClick={() => setOpened(null)}>
                {words.close}
              </button>
            </>
          }
        >
          <SessionSummaryView {...opened} />
        </Sheet>
      )}
      {complaintSession && (
        <ComplaintSheet
          mode={complaintSession.mode}
          accountId={complaintSession.account_id}
          subjects={[
            {
              kind: "session",
              id: complaintSession.session_id,
              label: words.onSession(dateTime(complaintSession.started_at)),
            },
          ]}
          onClose={() => setComplaintSession(null)}
        />
      )}
    </>
  );
}

function tableName(session: Session): string {
  return inLanguage(listedTable(session.table_id)?.configuration?.name) || session.table_id;
}

function SessionLine({ session, onShow }: { session: Session; onShow: () => void }) {
  const words = sessionWords();
  const over = session.state === "SESSION_STATE_ENDED";
  const length = (Date.parse(session.ended_at ?? "") - Date.parse(session.started_at ?? "")) / 1000;
  return (
    <li class="account-line" data-testid="session">
      <div>
        <strong>{tableName(session)}</strong>
        <span class="quiet figures">
          {dateTime(session.started_at)}
          {over && ` · ${duration(length)}`}
        </span>
      </div>
      {!over && (
        <span class="tag brass">{session.state === "SESSION_STATE_ENDING" ? words.ending : words.running}</span>
      )}
      <span class="row">
        {!over && (
          <a class="button first" href={addressOf({ page: "table", tableId: listedId(session.table_id) })}>
            {words.goOn}
          </a>
        )}
        <button type="button" class="button" onClick={onShow} data-testid="summary-button">
          {words.summary}
        </button>
      </span>
    </li>
  );
}
