// The player's complaints: where each stands, every step of it, and room to add to it.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Complaint } from "../api/messages";
import { balances, call, onFact, readBalance, requestId, who } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Icon } from "../design/icon";
import { say } from "../design/toast";
import { LONGEST, letters, WordsField } from "../table/complaint_text";
import { refusalWords } from "../table/refusal_words";
import { moment } from "../words/moments";
import { readComplaints } from "./complaint_pages";
import { PagedList } from "./paged_list";
import { usePages } from "./pages";
import { accountWords } from "./words";
import "./rounds.css";
import "./complaints.css";

export function Complaints() {
  const words = accountWords();
  const [asked, ask] = useState(false);
  useEffect(() => {
    const modes = who.value.kind === "player" ? (["MODE_REAL", "MODE_DEMO"] as const) : (["MODE_DEMO"] as const);
    void Promise.allSettled(modes.map(readBalance)).then(() => ask(true));
  }, []);
  const accounts = [balances.value.MODE_REAL, balances.value.MODE_DEMO].flatMap((one) => (one ? [one.account_id] : []));
  if (!asked) return null;
  return accounts.length ? (
    <OfAccounts key={accounts.join()} accounts={accounts} />
  ) : (
    <p class="paged-nothing">{words.complaintsNone}</p>
  );
}

function OfAccounts({ accounts }: { accounts: readonly string[] }) {
  const words = accountWords();
  const pages = usePages<Complaint>(accounts.join(), (token) => readComplaints(accounts, token));
  const [chosen, choose] = useState<string | null>(null);
  const { afresh } = pages;
  // One listener for as long as the page is shown
  useEffect(() => onFact((fact) => fact.complaint_moved && afresh()), []);
  const any = Boolean(pages.items?.length);
  return (
    <div class={chosen ? "rounds rounds-chosen" : "rounds"}>
      <div class="rounds-list">
        <PagedList pages={pages} icon="complaint" nothing={words.complaintsNone}>
          {(complaints) => (
            <ul aria-label={words.list}>
              {complaints.map((complaint) => (
                <li key={complaint.reference}>
                  <button
                    type="button"
                    class="round-line"
                    aria-current={complaint.reference === chosen ? "true" : undefined}
                    onClick={() => choose(complaint.reference)}
                    data-testid="complaint-line"
                  >
                    <span class="round-line-what">
                      <strong class="figures">{complaint.reference}</strong>
                      <span class="quiet figures">{moment(complaint.filed_at)}</span>
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
        <section class="rounds-told" aria-live="polite" aria-label={words.steps}>
          {chosen ? (
            <>
              <button type="button" class="button plain rounds-back" onClick={() => choose(null)}>
                <Icon name="back" />
                {words.back}
              </button>
              <OneComplaint key={chosen} reference={chosen} />
            </>
          ) : (
            <p class="rounds-choose">{words.choose}</p>
          )}
        </section>
      )}
    </div>
  );
}

function OneComplaint({ reference }: { reference: string }) {
  const words = accountWords();
  const [complaint, setComplaint] = useState<Complaint | null>(null);
  const read = useCallback(
    () =>
      void call("ComplaintService.GetComplaint", { reference }).then(
        (found) => setComplaint(found.complaint ?? null),
        (error) => error instanceof Refusal && say(refusalWords(error, "MODE_REAL"), "bad"),
      ),
    [reference],
  );
  useEffect(() => {
    read();
    return onFact((fact) => {
      if (fact.complaint_moved?.reference === reference) read();
    });
  }, [reference, read]);
  if (!complaint) return null;
  const about = complaint.round_id ? words.about.round(complaint.round_id) : words.about.session(complaint.session_id);
  return (
    <article class="round-story" data-testid="complaint-story">
      <header class="row apart">
        <div>
          <h3 class="figures complaint-title">{complaint.reference}</h3>
          <p class="quiet">
            {about} · {words.filedAt(moment(complaint.filed_at))}
          </p>
        </div>
        <span class="tag brass">{words.states[complaint.state]}</span>
      </header>
      <ol class="complaint-steps">
        {complaint.steps.map((step) => (
          <li key={step.number} class={step.by_operator ? "complaint-step complaint-step-us" : "complaint-step"}>
            <p class="quiet figures">
              <strong>{step.by_operator ? words.us : words.you}</strong> · {moment(step.at)} ·{" "}
              {words.states[step.state]}
            </p>
            {step.text && <p class="complaint-words">{step.text}</p>}
          </li>
        ))}
      </ol>
      {complaint.state === "COMPLAINT_STATE_CLOSED" ? (
        <p class="quiet">{words.closed}</p>
      ) : (
        <AddTo reference={reference} onAdded={read} />
      )}
    </article>
  );
}

function AddTo({ reference, onAdded }: { reference: string; onAdded: () => void }) {
  const words = accountWords();
  const [text, write] = useState("");
  const [sending, send] = useState(false);
  // The same words are added once, however often they are sent.
  const name = useMemo(requestId, [text]);
  const length = letters(text.trim());
  const add = async () => {
    send(true);
    try {
      await call("ComplaintService.AddToComplaint", { reference, request_id: name, text: text.trim() });
      write("");
      say(words.added, "good");
      // What is answered is the one step.
      onAdded();
    } catch (error) {
      say(refusalWords(error instanceof Refusal ? error : new Refusal("", {}, "", ""), "MODE_REAL"), "bad");
    } finally {
      send(false);
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
      <WordsField label={words.add} text={text} write={write} />
      <div class="row">
        <button type="submit" class="button first" disabled={length === 0 || length > LONGEST || sending}>
          {sending ? words.sending : words.send}
        </button>
      </div>
    </form>
  );
}
