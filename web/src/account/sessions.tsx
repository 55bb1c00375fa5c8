// The player's sessions, newest first, each with its summary.
import { useState } from "preact/hooks";
import type { Session, SessionSummary } from "../api/messages";
import { call, who } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Sheet } from "../design/sheet";
import { say } from "../design/toast";
import { listedId, listedTable } from "../lobby/tables";
import { address } from "../routes";
import { ComplaintSheet } from "../table/complaint";
import { refusalWords } from "../table/refusal_words";
import { SummaryOfSession } from "../table/session_summary";
import { said } from "../words/language";
import { moment, span } from "../words/moments";
import { PagedList } from "./paged_list";
import { usePages } from "./pages";
import { accountWords } from "./words";

const PAGE = 20;

export function Sessions() {
  const words = accountWords();
  const playerId = who.value.kind === "nobody" ? "" : who.value.playerId;
  const [summed, sum] = useState<{ session: Session; summary: SessionSummary | undefined } | null>(null);
  const [complainOf, complain] = useState<Session | null>(null);
  const pages = usePages<Session>(playerId, async (page_token) => {
    const found = await call("SessionService.ListSessions", {
      player_id: playerId,
      page_size: PAGE,
      ...(page_token ? { page_token } : {}),
    });
    return { items: found.sessions, next: found.next_page_token };
  });
  const show = async (session_id: string) => {
    try {
      const { session, summary } = await call("SessionService.GetSession", { session_id });
      if (session) sum({ session, summary });
    } catch (error) {
      if (error instanceof Refusal) say(refusalWords(error, "MODE_REAL"), "bad");
    }
  };
  return (
    <>
      <PagedList pages={pages} icon="clock" nothing={words.sessionsNone}>
        {(sessions) => (
          <ul class="account-lines">
            {sessions.map((session) => (
              <OneSession key={session.session_id} session={session} onShow={() => void show(session.session_id)} />
            ))}
          </ul>
        )}
      </PagedList>
      {summed && (
        <Sheet
          title={words.summaryOf(nameOf(summed.session))}
          onClose={() => sum(null)}
          testId="session-sheet"
          actions={
            <>
              <button
                type="button"
                class="button"
                onClick={() => {
                  complain(summed.session);
                  sum(null);
                }}
              >
                {words.complain}
              </button>
              <button type="button" class="button first" onClick={() => sum(null)}>
                {words.close}
              </button>
            </>
          }
        >
          <SummaryOfSession {...summed} />
        </Sheet>
      )}
      {complainOf && (
        <ComplaintSheet
          mode={complainOf.mode}
          accountId={complainOf.account_id}
          subjects={[
            {
              kind: "session",
              id: complainOf.session_id,
              label: words.onSession(moment(complainOf.started_at)),
            },
          ]}
          onClose={() => complain(null)}
        />
      )}
    </>
  );
}

function nameOf(session: Session): string {
  return said(listedTable(session.table_id)?.configuration?.name) || session.table_id;
}

function OneSession({ session, onShow }: { session: Session; onShow: () => void }) {
  const words = accountWords();
  const over = session.state === "SESSION_STATE_ENDED";
  const length = (Date.parse(session.ended_at ?? "") - Date.parse(session.started_at ?? "")) / 1000;
  return (
    <li class="account-line" data-testid="session">
      <div>
        <strong>{nameOf(session)}</strong>
        <span class="quiet figures">
          {moment(session.started_at)}
          {over && ` · ${span(length)}`}
        </span>
      </div>
      {!over && (
        <span class="tag brass">{session.state === "SESSION_STATE_ENDING" ? words.ending : words.running}</span>
      )}
      <span class="row">
        {!over && (
          <a class="button first" href={address({ page: "table", tableId: listedId(session.table_id) })}>
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
