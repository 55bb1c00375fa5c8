// The whole page: its frame, and whichever page is shown within.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { AccountPage } from "./account/account_page";
import { ShutOut } from "./account/shut_out";
import { onFact, ready } from "./api/platform";
import { Abandoned, Refusal } from "./api/refusal";
import { AppBar } from "./app_bar";
import { appWords } from "./app_words";
import { arrive } from "./design/arrival";
import { Boundary } from "./design/boundary";
import { say, Toasts } from "./design/toast";
import { LineNotice } from "./line_notice";
import { Lobby } from "./lobby/lobby";
import { type Route, route } from "./routes";
import { refusalWords } from "./table/refusal_words";
import { TablePage } from "./table/table_page";
import "./app.css";

export function App() {
  const at = route.value;
  const key = at.page === "table" ? `table/${at.tableId}` : at.page;
  useNavigation(key, at.page);
  useNews();
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place of this page, whose address is the route's */}
      <a class="skip" href="#main" onClick={skip}>
        {appWords().skip}
      </a>
      {at.page !== "table" && <AppBar />}
      {ready.value && (
        <Boundary key={key}>
          <Shown at={at} />
        </Boundary>
      )}
      <LineNotice />
      <Toasts />
    </>
  );
}

function Shown({ at }: { at: Route }) {
  if (at.page === "table") return <TablePage key={at.tableId} tableId={at.tableId} />;
  return (
    <>
      <main id="main" class="page" tabIndex={-1}>
        <ShutOut />
        {at.page === "account" ? <AccountPage part={at.part} /> : <Lobby />}
      </main>
      <footer class="foot">
        <p>{appWords().foot}</p>
        <p>{appWords().adult}</p>
      </footer>
    </>
  );
}

/** The address is the route's: the way to the content must not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** Whoever goes to another page is taken to its heading, and told its name. */
function useNavigation(key: string, page: Route["page"]): void {
  const first = useRef(true);
  const title = appWords().titles[page];
  useEffect(() => {
    // A table's page says which table.
    if (page !== "table") document.title = `${title} · Feltro`;
  }, [title, page]);
  // It is the change of page that moves the focus, and not a moment after it: by then he may have moved it himself.
  useLayoutEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    scrollTo(0, 0);
    arrive();
  }, [key]);
}

/** What concerns the player wherever he is, and faults that nobody else has dealt with. */
function useNews(): void {
  useEffect(
    () =>
      onFact(({ complaint_moved: moved }) => {
        if (!moved?.step?.by_operator) return;
        const { complaintAnswered, complaintMoved } = appWords();
        const answered = moved.step.state === "COMPLAINT_STATE_ANSWERED";
        say(answered ? complaintAnswered(moved.reference) : complaintMoved(moved.reference));
      }),
    [],
  );
  useEffect(() => {
    const unheard = (event: PromiseRejectionEvent) => {
      if (event.reason instanceof Abandoned) event.preventDefault();
      else if (event.reason instanceof Refusal) {
        event.preventDefault();
        say(refusalWords(event.reason, "MODE_REAL"), "bad");
      }
    };
    addEventListener("unhandledrejection", unheard);
    return () => removeEventListener("unhandledrejection", unheard);
  }, []);
}
