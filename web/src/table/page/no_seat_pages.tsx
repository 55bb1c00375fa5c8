// Pages shown where the player cannot sit down: why, and what to do instead.
import type { ComponentChildren } from "preact";
import type { Mode, TableSummary } from "../../api/messages";
import { goToCashier, identity, logIn, loginEndedReason, operator, wasGuest } from "../../api/platform";
import { Refusal } from "../../api/refusal";
import { addressOf } from "../../browser/routes";
import { Empty } from "../../design/empty";
import type { IconName } from "../../design/icon";
import { demonstrationOf, SimilarTables } from "../../tables/similar_tables";
import { inLanguage } from "../../words/language";
import { reasonText } from "../../words/reasons";
import { refusalText } from "../../words/refusals";
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

function ToTablesLink({ first }: { first?: boolean }) {
  return (
    <a class={first ? "button first" : "button"} href={addressOf({ page: "lobby" })} data-testid="to-tables">
      {tableWords().toTables}
    </a>
  );
}

/** What the player can do at once, and otherwise the way back to the tables. */
function ActOrLeave({ act, label, testId }: { act: () => void; label: string; testId?: string }) {
  return (
    <>
      <button type="button" class="button first" onClick={act} data-testid={testId}>
        {label}
      </button>
      <ToTablesLink />
    </>
  );
}

export function UnknownTablePage() {
  const words = tableWords();
  return (
    <Page icon="warning" title={words.unknown} actions={<ToTablesLink first />} testId="unknown-table">
      <p>{words.unknownText}</p>
    </Page>
  );
}

/** The list of tables could not be read. */
export function UnreadableTablePage({ onAgain }: { onAgain: () => void }) {
  const words = tableWords();
  return (
    <Page
      icon="warning"
      title={words.unread}
      testId="unread"
      actions={<ActOrLeave act={onAgain} label={words.tryAgain} />}
    >
      <p>{words.unreadText}</p>
    </Page>
  );
}

/** A table for money, visited without a login. */
export function MoneyTablePage({ listed }: { listed: TableSummary }) {
  const words = tableWords();
  const demo = demonstrationOf(listed);
  const canLogIn = operator.value.login_url !== "";
  const text = !canLogIn
    ? words.forMoneyNoLogin
    : identity.value.kind === "guest"
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
            <a class={canLogIn ? "button" : "button first"} href={addressOf({ page: "table", tableId: demo.table_id })}>
              {words.withCredits}
            </a>
          )}
          <ToTablesLink />
        </>
      }
    >
      <p>{inLanguage(listed.configuration?.name)}</p>
      <p>{text}</p>
    </Page>
  );
}

/** The login has ended. */
export function LoginEndedPage({ mode, onAgain }: { mode: Mode; onAgain?: () => void }) {
  const words = tableWords();
  if (wasGuest.value && onAgain && mode === "MODE_DEMO") return <GuestEndedPage onAgain={onAgain} />;
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
          <ToTablesLink />
        </>
      }
    >
      {/* The title says already that the login has ended. */}
      {loginEndedReason.value === "LOGIN_NEEDED" && (
        <p>{refusalText(new Refusal(loginEndedReason.value, {}, "", ""), mode)}</p>
      )}
      <p>{words.outText}</p>
    </Page>
  );
}

/** A guest has no account to log in to, and no seat that waits. */
function GuestEndedPage({ onAgain }: { onAgain: () => void }) {
  const words = tableWords();
  return (
    <Page
      icon="person"
      title={words.guestOver}
      testId="out"
      actions={<ActOrLeave act={onAgain} label={words.withCredits} />}
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

export function SeatRefusedPage({ refusal, listed, onAgain }: RefusedProps) {
  const words = tableWords();
  const mode = listed.configuration?.mode ?? "MODE_REAL";
  const again = <ActOrLeave act={onAgain} label={words.tryAgain} testId="try-again" />;
  switch (refusal.reason) {
    case "TABLE_FULL":
    case "TABLE_DISABLED": {
      const full = refusal.reason === "TABLE_FULL";
      return (
        <Page
          icon={full ? "people" : "clock"}
          title={full ? words.full : words.disabled}
          testId="refused"
          actions={again}
        >
          <p>
            {!full && refusal.facts["why"] ? words.why(reasonText(refusal.facts["why"])) : refusalText(refusal, mode)}
          </p>
          <SimilarTables listed={listed} />
        </Page>
      );
    }
    case "NOT_SEATED":
      return (
        <Page
          icon="person"
          title={words.over}
          testId="refused"
          actions={<ActOrLeave act={onAgain} label={words.sitAgain} testId="try-again" />}
        >
          <p>{refusalText(refusal, mode)}</p>
        </Page>
      );
    case "SCOPE_MISSING":
      // A guest, who plays for credits alone.
      return <MoneyTablePage listed={listed} />;
    case "ACCOUNT_UNKNOWN": {
      const demo = demonstrationOf(listed);
      return (
        <Page
          icon="money"
          title={words.noAccount}
          testId="refused"
          actions={
            <>
              {operator.value.cashier_url && (
                <button type="button" class="button first" onClick={goToCashier}>
                  {words.cashier}
                </button>
              )}
              {demo && (
                <a class="button" href={addressOf({ page: "table", tableId: demo.table_id })}>
                  {words.withCredits}
                </a>
              )}
              <ToTablesLink />
            </>
          }
        >
          <p>{words.noAccountText}</p>
        </Page>
      );
    }
    default:
      return (
        <Page icon="warning" title={words.refused} testId="refused" actions={again}>
          <p>{refusalText(refusal, mode)}</p>
          {refusal.traceId && (
            <p>
              <code>{refusal.traceId}</code>
            </p>
          )}
        </Page>
      );
  }
}
