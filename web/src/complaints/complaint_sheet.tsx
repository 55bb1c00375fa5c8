// The complaint form: about a round or a session, in the player's own words; it ends with a reference to keep.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import type { Complaint, Mode } from "../api/messages";
import { balances, call, readBalance, requestId } from "../api/platform";
import { asRefusal, type Refusal } from "../api/refusal";
import { addressOf } from "../browser/routes";
import { Icon } from "../design/icon";
import { Sheet } from "../design/overlays/sheet";
import { dictionary } from "../words/language";
import { refusalText } from "../words/refusals";
import { ComplaintTextField, countCharacters, MAX_CHARACTERS } from "./complaint_text";
import "./complaint_sheet.css";

const complaintSheetWords = dictionary(
  {
    title: "Fazer uma reclamação",
    about: "Sobre o quê?",
    round: (label: string) => `A jogada ${label}`,
    session: (label: string) => `A sessão ${label}`,
    text: "O que correu mal?",
    hint: "Diga o que esperava e o que aconteceu. Juntamos-lhe tudo o que o sistema registou.",
    send: "Enviar a reclamação",
    sending: "A enviar…",
    cancel: "Cancelar",
    filed: "Reclamação recebida",
    keep: "Guarde esta referência:",
    next: "Respondemos na sua conta. Pode acompanhar cada passo e acrescentar o que quiser em «Reclamações».",
    follow: "Ver as minhas reclamações",
    close: "Fechar",
    copy: "Copiar",
    copied: "Copiada",
    nothing: "Ainda não há uma jogada ou sessão sua de que reclamar.",
  },
  {
    title: "Make a complaint",
    about: "What is it about?",
    round: (label: string) => `The round ${label}`,
    session: (label: string) => `The session ${label}`,
    text: "What went wrong?",
    hint: "Say what you expected and what happened. We add everything that the system has on record.",
    send: "Send the complaint",
    sending: "Sending…",
    cancel: "Cancel",
    filed: "Complaint received",
    keep: "Keep this reference:",
    next: "We answer in your account. You can follow every step, and add to it, under “Complaints”.",
    follow: "See my complaints",
    close: "Close",
    copy: "Copy",
    copied: "Copied",
    nothing: "There is no round or session of yours yet to complain about.",
  },
);

/** What the complaint can be about; rounds first. */
export interface Subject {
  kind: "round" | "session";
  id: string;
  /** A date by which the player recognises it. */
  label: string;
}

interface Props {
  mode: Mode;
  /** The account that was played with, where it is known. */
  accountId?: string | undefined;
  subjects: readonly Subject[];
  onClose: () => void;
}

export function ComplaintSheet({ mode, accountId, subjects, onClose }: Props) {
  const words = complaintSheetWords();
  const [subjectId, setSubjectId] = useState(subjects[0]?.id ?? "");
  const [text, setText] = useState("");
  const [sending, setSending] = useState(false);
  const [refused, setRefused] = useState<Refusal | null>(null);
  const [filed, setFiled] = useState<Complaint | null>(null);
  const group = useId();
  const subject = subjects.find(({ id }) => id === subjectId) ?? subjects[0];
  // The same text about the same subject is one complaint, however often it is sent.
  const name = useMemo(requestId, [text, subjectId]);
  useEffect(() => {
    if (!accountId && !balances.value[mode]) void readBalance(mode).catch(() => undefined);
  }, [accountId, mode]);

  const file = async () => {
    if (!subject) return;
    setSending(true);
    setRefused(null);
    try {
      const { complaint } = await call("ComplaintService.FileComplaint", {
        request_id: name,
        account_id: accountId ?? balances.value[mode]?.account_id ?? "",
        ...(subject.kind === "round" ? { round_id: subject.id } : { session_id: subject.id }),
        text: text.trim(),
      });
      setFiled(complaint ?? null);
    } catch (error) {
      setRefused(asRefusal(error));
    } finally {
      setSending(false);
    }
  };

  if (filed) return <ComplaintFiled reference={filed.reference} onClose={onClose} />;
  const length = countCharacters(text.trim());
  const sendable = subject !== undefined && length > 0 && length <= MAX_CHARACTERS && !sending;
  return (
    <Sheet
      title={words.title}
      onClose={onClose}
      testId="complaint"
      actions={
        <>
          <button type="button" class="button plain" onClick={onClose}>
            {words.cancel}
          </button>
          <button
            type="button"
            class="button first"
            disabled={!sendable}
            onClick={() => void file()}
            data-testid="complaint-send"
          >
            {sending ? words.sending : words.send}
          </button>
        </>
      }
    >
      {subjects.length === 0 && <p class="quiet">{words.nothing}</p>}
      {subjects.length > 0 && (
        <fieldset class="complaint-about">
          <legend>{words.about}</legend>
          {subjects.map(({ kind, id, label }) => (
            <label key={id}>
              <input type="radio" name={group} checked={id === subject?.id} onChange={() => setSubjectId(id)} />
              <span>{kind === "round" ? words.round(label) : words.session(label)}</span>
            </label>
          ))}
        </fieldset>
      )}
      <ComplaintTextField label={words.text} hint={words.hint} text={text} write={setText} />
      {refused && (
        <p class="bad" role="alert">
          {refusalText(refused, mode)}
        </p>
      )}
    </Sheet>
  );
}

function ComplaintFiled({ reference, onClose }: { reference: string; onClose: () => void }) {
  const words = complaintSheetWords();
  const [copied, setCopied] = useState(false);
  return (
    <Sheet
      title={words.filed}
      onClose={onClose}
      testId="complaint-filed"
      actions={
        <>
          <a class="button" href={addressOf({ page: "account", part: "complaints" })} onClick={onClose}>
            {words.follow}
          </a>
          <button type="button" class="button first" onClick={onClose}>
            {words.close}
          </button>
        </>
      }
    >
      <div class="complaint-reference" role="status">
        <span class="quiet">{words.keep}</span>
        <strong class="figures" data-testid="reference">
          {reference}
        </strong>
        <button
          type="button"
          class="button"
          onClick={() =>
            void navigator.clipboard?.writeText(reference).then(
              () => setCopied(true),
              () => undefined,
            )
          }
        >
          {copied && <Icon name="check" />}
          {copied ? words.copied : words.copy}
        </button>
      </div>
      <p>{words.next}</p>
    </Sheet>
  );
}
