// The whole page: the bar, the current page, notices.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { AccountPage } from "../account/account_page";
import { LoginEnded } from "../account/login_ended";
import { onFact, ready } from "../api/platform";
import { CallAbandoned, Refusal } from "../api/refusal";
import { focusHeading } from "../browser/heading_focus";
import { type Route, route } from "../browser/routes";
import { ErrorBoundary } from "../design/error_boundary";
import { notify, Toasts } from "../design/overlays/toast";
import { gameEntry, gameIds } from "../game_interface/registered_games";
import { Lobby } from "../lobby/lobby";
import { TablePage } from "../table/page/table_page";
import { refusalText } from "../words/refusals";
import { AppBar } from "./app_bar";
import { ConnectionNotice } from "./connection_notice";
import { GamePage } from "./game_page";
import { appWords } from "./words";
import "./app.css";

export function App() {
  const at = route.value;
  const key = keyOf(at);
  useHeadingFocus(key, at.page);
  useNotifications();
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place of this page, whose address is the route's */}
      <a class="skip" href="#main" onClick={skip}>
        {appWords().skip}
      </a>
      {at.page !== "table" && <AppBar />}
      {ready.value && (
        <ErrorBoundary key={key}>
          <CurrentPage at={at} />
        </ErrorBoundary>
      )}
      <ConnectionNotice />
      <Toasts />
    </>
  );
}

function CurrentPage({ at }: { at: Route }) {
  if (at.page === "table") return <TablePage key={at.tableId} tableId={at.tableId} />;
  return (
    <>
      <main id="main" class="page" tabIndex={-1}>
        <LoginEnded />
        {at.page === "account" ? (
          <AccountPage part={at.part} />
        ) : at.page === "game" ? (
          <GamePage game={at.game} place={at.place} />
        ) : (
          <Lobby />
        )}
      </main>
      <footer class="foot">
        <p>{[appWords().foot, ...gameIds().map((id) => gameEntry(id)?.texts().fairness)].join(" ")}</p>
        <p>{appWords().adult}</p>
      </footer>
    </>
  );
}

/** Another key is another page. */
function keyOf(at: Route): string {
  if (at.page === "table") return `table/${at.tableId}`;
  return at.page === "game" ? `game/${at.game}/${at.place}` : at.page;
}

/** Focuses the content without changing the address, which selects the page. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** Sets the document's title, and moves the focus to the heading of a new page. */
function useHeadingFocus(key: string, page: Route["page"]): void {
  const first = useRef(true);
  const title = appWords().titles[page];
  useEffect(() => {
    // A table's page sets the table's name itself, and a game's its own.
    if (page !== "table" && page !== "game") document.title = `${title} · Feltro`;
  }, [title, page]);
  // The change of page moves the focus at once: a moment later the player may have moved it already.
  useLayoutEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    scrollTo(0, 0);
    focusHeading();
  }, [key]);
}

/** Shows news of complaints on every page, and refusals that no other code has handled. */
function useNotifications(): void {
  useEffect(
    () =>
      onFact(({ complaint_updated: moved }) => {
        if (!moved?.step?.by_operator) return;
        const { complaintAnswered, complaintMoved } = appWords();
        const answered = moved.step.state === "COMPLAINT_STATE_ANSWERED";
        notify(answered ? complaintAnswered(moved.reference) : complaintMoved(moved.reference));
      }),
    [],
  );
  useEffect(() => {
    const showRefusal = (event: PromiseRejectionEvent) => {
      if (event.reason instanceof CallAbandoned) event.preventDefault();
      else if (event.reason instanceof Refusal) {
        event.preventDefault();
        notify(refusalText(event.reason, "MODE_REAL"), "bad");
      }
    };
    addEventListener("unhandledrejection", showRefusal);
    return () => removeEventListener("unhandledrejection", showRefusal);
  }, []);
}
