// The player's complaints: the state of each, its steps, and a form to add to it.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Complaint } from "../api/messages";
import { balances, call, identity, onFact, readBalance, requestId } from "../api/platform";
import { asRefusal, Refusal } from "../api/refusal";
import { Icon } from "../design/icon";
import { notify } from "../design/overlays/toast";
import { PagedList } from "../paging/paged_list";
import { usePages } from "../paging/pages";
import { refusalText } from "../words/refusals";
import { dateTime } from "../words/times";
import { readComplaints } from "./complaint_pages";
import { ComplaintTextField, countCharacters, MAX_CHARACTERS } from "./complaint_text";
import { complaintWords } from "./words";
import "../paging/list_and_detail.css";
import "./complaint_list.css";

export function ComplaintList() {
  const words = complaintWords();
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    const modes = identity.value.kind === "player" ? (["MODE_REAL", "MODE_DEMO"] as const) : (["MODE_DEMO"] as const);
    void Promise.allSettled(modes.map(readBalance)).then(() => setAsked(true));
  }, []);
  const accounts = [balances.value.MODE_REAL, balances.value.MODE_DEMO].flatMap((one) => (one ? [one.account_id] : []));
  if (!asked) return null;
  return accounts.length ? (
    <ComplaintsOfAccounts key={accounts.join()} accounts={accounts} />
  ) : (
    <p class="paged-nothing">{words.complaintsNone}</p>
  );
}

function ComplaintsOfAccounts({ accounts }: { accounts: readonly string[] }) {
  const words = complaintWords();
  const pages = usePages<Complaint>(accounts.join(), (token) => readComplaints(accounts, token));
  const [chosen, setChosen] = useState<string | null>(null);
  const { restart } = pages;
  // One listener for as long as the page is shown
  useEffect(() => onFact((fact) => fact.complaint_updated && restart()), []);
  const any = Boolean(pages.items?.length);
  return (
    <div class={chosen ? "list-detail list-detail-chosen" : "list-detail"}>
      <div class="list-detail-list">
        <PagedList pages={pages} icon="complaint" nothing={words.complaintsNone}>
          {(complaints) => (
            <ul aria-label={words.list}>
              {complaints.map((complaint) => (
                <li key={complaint.reference}>
                  <button
                    type="button"
                    class="list-line"
                    aria-current={complaint.reference === chosen ? "true" : undefined}
                    onClick={() => setChosen(complaint.reference)}
                    data-testid="complaint-line"
                  >
                    <span class="list-line-what">
                      <strong class="figures">{complaint.reference}</strong>
                      <span class="quiet figures">{dateTime(complaint.filed_at)}</span>
                    </span>
                    <span class="tag brass">{words.states[complaint.state]}</span>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </PagedList>
        <p class="quiet">{words.complaintsHow}</p>
      </div>
      {any && (
        <section class="list-detail-shown" aria-live="polite" aria-label={words.steps}>
          {chosen ? (
            <>
              <button type="button" class="button plain list-detail-back" onClick={() => setChosen(null)}>
                <Icon name="back" />
                {words.back}
              </button>
              <ComplaintStory key={chosen} reference={chosen} />
            </>
          ) : (
            <p class="list-detail-hint">{words.choose}</p>
          )}
        </section>
      )}
    </div>
  );
}

function ComplaintStory({ reference }: { reference: string }) {
  const words = complaintWords();
  const [complaint, setComplaint] = useState<Complaint | null>(null);
  const read = useCallback(
    () =>
      void call("ComplaintService.GetComplaint", { reference }).then(
        (found) => setComplaint(found.complaint ?? null),
        (error) => error instanceof Refusal && notify(refusalText(error, "MODE_REAL"), "bad"),
      ),
    [reference],
  );
  useEffect(() => {
    read();
    return onFact((fact) => {
      if (fact.complaint_updated?.reference === reference) read();
    });
  }, [reference, read]);
  if (!complaint) return null;
  const about = complaint.round_id ? words.about.round(complaint.round_id) : words.about.session(complaint.session_id);
  return (
    <article class="complaint-story" data-testid="complaint-story">
      <header class="row apart">
        <div>
          <h3 class="figures complaint-title">{complaint.reference}</h3>
          <p class="quiet">
            {about} · {words.filedAt(dateTime(complaint.filed_at))}
          </p>
        </div>
        <span class="tag brass">{words.states[complaint.state]}</span>
      </header>
      <ol class="complaint-steps">
        {complaint.steps.map((step) => (
          <li key={step.number} class={step.by_operator ? "complaint-step complaint-step-us" : "complaint-step"}>
            <p class="quiet figures">
              <strong>{step.by_operator ? words.us : words.you}</strong> · {dateTime(step.at)} ·{" "}
              {words.states[step.state]}
            </p>
            {step.text && <p class="complaint-words">{step.text}</p>}
          </li>
        ))}
      </ol>
      {complaint.state === "COMPLAINT_STATE_CLOSED" ? (
        <p class="quiet">{words.closed}</p>
      ) : (
        <AddToComplaint reference={reference} onAdded={read} />
      )}
    </article>
  );
}

function AddToComplaint({ reference, onAdded }: { reference: string; onAdded: () => void }) {
  const words = complaintWords();
  const [text, setText] = useState("");
  const [sending, setSending] = useState(false);
  // The same text is added once, however often it is sent.
  const name = useMemo(requestId, [text]);
  const length = countCharacters(text.trim());
  const add = async () => {
    setSending(true);
    try {
      await call("ComplaintService.AddToComplaint", { reference, request_id: name, text: text.trim() });
      setText("");
      notify(words.added, "good");
      // The answer holds the new step only: the complaint is read again.
      onAdded();
    } catch (error) {
      notify(refusalText(asRefusal(error), "MODE_REAL"), "bad");
    } finally {
      setSending(false);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <ComplaintTextField label={words.add} text={text} write={setText} />
      <div class="row">
        <button type="submit" class="button first" disabled={length === 0 || length > MAX_CHARACTERS || sending}>
          {sending ? words.sending : words.send}
        </button>
      </div>
    </form>
  );
}
