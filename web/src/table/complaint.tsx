// The complaint form: about a round or a session, in the player's own words; what he gets is a reference to keep.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import type { Complaint, Mode } from "../api/messages";
import { balances, call, readBalance, requestId } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Icon } from "../design/icon";
import { Sheet } from "../design/sheet";
import { address } from "../routes";
import { dictionary } from "../words/language";
import { LONGEST, letters, WordsField } from "./complaint_text";
import { refusalWords } from "./refusal_words";
import "./complaint.css";

const words = dictionary(
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

/** What one may complain about; a round first. */
export interface Subject {
  kind: "round" | "session";
  id: string;
  /** When or what it was, for the player to recognise it. */
  label: string;
}

interface Props {
  mode: Mode;
  /** The account it was played with, where it is known. */
  accountId?: string | undefined;
  subjects: readonly Subject[];
  onClose: () => void;
}

export function ComplaintSheet({ mode, accountId, subjects, onClose }: Props) {
  const say = words();
  const [subjectId, about] = useState(subjects[0]?.id ?? "");
  const [text, write] = useState("");
  const [sending, send] = useState(false);
  const [refused, refuse] = useState<Refusal | null>(null);
  const [filed, setFiled] = useState<Complaint | null>(null);
  const group = useId();
  const subject = subjects.find(({ id }) => id === subjectId) ?? subjects[0];
  // The same words about the same thing are one complaint, however often they are sent.
  const name = useMemo(requestId, [text, subjectId]);
  useEffect(() => {
    if (!accountId && !balances.value[mode]) void readBalance(mode).catch(() => undefined);
  }, [accountId, mode]);

  const file = async () => {
    if (!subject) return;
    send(true);
    refuse(null);
    try {
      const { complaint } = await call("ComplaintService.FileComplaint", {
        request_id: name,
        account_id: accountId ?? balances.value[mode]?.account_id ?? "",
        ...(subject.kind === "round" ? { round_id: subject.id } : { session_id: subject.id }),
        text: text.trim(),
      });
      setFiled(complaint ?? null);
    } catch (error) {
      refuse(error instanceof Refusal ? error : new Refusal("", {}, "", String(error)));
    } finally {
      send(false);
    }
  };

  if (filed) return <Filed reference={filed.reference} onClose={onClose} />;
  const length = letters(text.trim());
  const sendable = subject !== undefined && length > 0 && length <= LONGEST && !sending;
  return (
    <Sheet
      title={say.title}
      onClose={onClose}
      testId="complaint"
      actions={
        <>
          <button type="button" class="button plain" onClick={onClose}>
            {say.cancel}
          </button>
          <button
            type="button"
            class="button first"
            disabled={!sendable}
            onClick={() => void file()}
            data-testid="complaint-send"
          >
            {sending ? say.sending : say.send}
          </button>
        </>
      }
    >
      {subjects.length === 0 && <p class="quiet">{say.nothing}</p>}
      {subjects.length > 0 && (
        <fieldset class="complaint-about">
          <legend>{say.about}</legend>
          {subjects.map(({ kind, id, label }) => (
            <label key={id}>
              <input type="radio" name={group} checked={id === subject?.id} onChange={() => about(id)} />
              <span>{kind === "round" ? say.round(label) : say.session(label)}</span>
            </label>
          ))}
        </fieldset>
      )}
      <WordsField label={say.text} hint={say.hint} text={text} write={write} />
      {refused && (
        <p class="bad" role="alert">
          {refusalWords(refused, mode)}
        </p>
      )}
    </Sheet>
  );
}

function Filed({ reference, onClose }: { reference: string; onClose: () => void }) {
  const say = words();
  const [copied, setCopied] = useState(false);
  return (
    <Sheet
      title={say.filed}
      onClose={onClose}
      testId="complaint-filed"
      actions={
        <>
          <a class="button" href={address({ page: "account", part: "complaints" })} onClick={onClose}>
            {say.follow}
          </a>
          <button type="button" class="button first" onClick={onClose}>
            {say.close}
          </button>
        </>
      }
    >
      <div class="complaint-reference" role="status">
        <span class="quiet">{say.keep}</span>
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
          {copied ? say.copied : say.copy}
        </button>
      </div>
      <p>{say.next}</p>
    </Sheet>
  );
}
