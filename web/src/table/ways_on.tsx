// Where he cannot sit down: why, in words, and what he can do instead.
import type { ComponentChildren } from "preact";
import type { Mode, TableSummary } from "../api/messages";
import { guestBefore, logIn, operator, shutOut, toCashier, who } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Empty } from "../design/empty";
import type { IconName } from "../design/icon";
import { address } from "../routes";
import { said } from "../words/language";
import { reasonWords } from "../words/reasons";
import { demoOf, OtherTables } from "./other_tables";
import { refusalWords } from "./refusal_words";
import { tableWords } from "./words";

function Page(props: {
  icon: IconName;
  title: string;
  children: ComponentChildren;
  actions: ComponentChildren;
  testId: string;
}) {
  return (
    <div class="page">
      <Empty {...props} />
    </div>
  );
}

function ToTables({ first }: { first?: boolean }) {
  return (
    <a class={first ? "button first" : "button"} href={address({ page: "lobby" })} data-testid="to-tables">
      {tableWords().toTables}
    </a>
  );
}

export function UnknownTable() {
  const words = tableWords();
  return (
    <Page icon="warning" title={words.unknown} actions={<ToTables first />} testId="unknown-table">
      <p>{words.unknownText}</p>
    </Page>
  );
}

/** The tables could not be read, and so nothing is known of this one. */
export function Unread({ onAgain }: { onAgain: () => void }) {
  const words = tableWords();
  return (
    <Page
      icon="warning"
      title={words.unread}
      testId="unread"
      actions={
        <>
          <button type="button" class="button first" onClick={onAgain}>
            {words.tryAgain}
          </button>
          <ToTables />
        </>
      }
    >
      <p>{words.unreadText}</p>
    </Page>
  );
}

/** A table for money, and a visitor or a guest. */
export function ForMoney({ listed }: { listed: TableSummary }) {
  const words = tableWords();
  const demo = demoOf(listed);
  const canLogIn = operator.value.login_url !== "";
  const text = !canLogIn
    ? words.forMoneyNoLogin
    : who.value.kind === "guest"
      ? words.forMoneyGuest
      : words.forMoneyLogIn;
  return (
    <Page
      icon="money"
      title={words.forMoney}
      testId="for-money"
      actions={
        <>
          {canLogIn && (
            <button type="button" class="button first" onClick={logIn}>
              {words.logIn}
            </button>
          )}
          {demo && (
            <a class={canLogIn ? "button" : "button first"} href={address({ page: "table", tableId: demo.table_id })}>
              {words.withCredits}
            </a>
          )}
          <ToTables />
        </>
      }
    >
      <p>{said(listed.configuration?.name)}</p>
      <p>{text}</p>
    </Page>
  );
}

/** His token opens nothing any more. */
export function OutOfIt({ mode, onAgain }: { mode: Mode; onAgain?: () => void }) {
  const words = tableWords();
  if (guestBefore.value && onAgain && mode === "MODE_DEMO") return <GuestOver onAgain={onAgain} />;
  return (
    <Page
      icon="person"
      title={words.outTitle}
      testId="out"
      actions={
        <>
          {operator.value.login_url && (
            <button type="button" class="button first" onClick={logIn}>
              {words.logIn}
            </button>
          )}
          {onAgain && mode === "MODE_DEMO" && (
            <button type="button" class={operator.value.login_url ? "button" : "button first"} onClick={onAgain}>
              {words.withCredits}
            </button>
          )}
          <ToTables />
        </>
      }
    >
      {/* That his access has ended the title says already. */}
      {shutOut.value === "LOGIN_NEEDED" && <p>{refusalWords(new Refusal(shutOut.value, {}, "", ""), mode)}</p>}
      <p>{words.outText}</p>
    </Page>
  );
}

/** A guest has no account to log in to, and none of his seats waits for him. */
function GuestOver({ onAgain }: { onAgain: () => void }) {
  const words = tableWords();
  return (
    <Page
      icon="person"
      title={words.guestOver}
      testId="out"
      actions={
        <>
          <button type="button" class="button first" onClick={onAgain}>
            {words.withCredits}
          </button>
          <ToTables />
        </>
      }
    >
      <p>{words.guestOverText}</p>
    </Page>
  );
}

interface RefusedProps {
  refusal: Refusal;
  listed: TableSummary;
  onAgain: () => void;
}

export function Refused({ refusal, listed, onAgain }: RefusedProps) {
  const words = tableWords();
  const mode = listed.configuration?.mode ?? "MODE_REAL";
  const again = (
    <button type="button" class="button first" onClick={onAgain} data-testid="try-again">
      {words.tryAgain}
    </button>
  );
  switch (refusal.reason) {
    case "TABLE_FULL":
    case "TABLE_DISABLED": {
      const full = refusal.reason === "TABLE_FULL";
      return (
        <Page
          icon={full ? "people" : "clock"}
          title={full ? words.full : words.disabled}
          testId="refused"
          actions={
            <>
              {again}
              <ToTables />
            </>
          }
        >
          <p>
            {!full && refusal.facts["why"] ? words.why(reasonWords(refusal.facts["why"])) : refusalWords(refusal, mode)}
          </p>
          <OtherTables listed={listed} />
        </Page>
      );
    }
    case "NOT_YOURS":
      return (
        <Page
          icon="person"
          title={words.ownTable}
          testId="refused"
          actions={
            <>
              <button type="button" class="button first" onClick={onAgain}>
                {words.ownTableGo}
              </button>
              <ToTables />
            </>
          }
        >
          <p>{words.ownTableText}</p>
        </Page>
      );
    case "ACCOUNT_UNKNOWN": {
      const demo = demoOf(listed);
      return (
        <Page
          icon="money"
          title={words.noAccount}
          testId="refused"
          actions={
            <>
              {operator.value.cashier_url && (
                <button type="button" class="button first" onClick={toCashier}>
                  {words.cashier}
                </button>
              )}
              {demo && (
                <a class="button" href={address({ page: "table", tableId: demo.table_id })}>
                  {words.withCredits}
                </a>
              )}
              <ToTables />
            </>
          }
        >
          <p>{words.noAccountText}</p>
        </Page>
      );
    }
    default:
      return (
        <Page
          icon="warning"
          title={words.refused}
          testId="refused"
          actions={
            <>
              {again}
              <ToTables />
            </>
          }
        >
          <p>{refusalWords(refusal, mode)}</p>
          {refusal.traceId && (
            <p>
              <code>{refusal.traceId}</code>
            </p>
          )}
        </Page>
      );
  }
}
