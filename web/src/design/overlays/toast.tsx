// Short messages over the page, also announced to screen readers: `notify("…", "good")`.
import { signal } from "@preact/signals";
import { dictionary } from "../../words/language";
import { Icon } from "../icon";
import "./toast.css";

export type Tone = "plain" | "good" | "bad";

interface Toast {
  id: number;
  text: string;
  tone: Tone;
}

const toastWords = dictionary({ dismiss: "Fechar este aviso" }, { dismiss: "Dismiss this message" });

const SHOWN_AT_ONCE = 3;
const SHOWN_MS = 4_500;
// Longer texts stay longer.
const SHOWN_MS_PER_LETTER = 45;

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message; a text that is already shown replaces itself. */
export function notify(text: string, tone: Tone = "plain"): void {
  const id = ++lastId;
  const others = toasts.value.filter((toast) => toast.text !== text);
  toasts.value = [...others, { id, text, tone }].slice(-SHOWN_AT_ONCE);
  setTimeout(() => dismiss(id), SHOWN_MS + SHOWN_MS_PER_LETTER * text.length);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** The place where messages appear: once on the page. */
export function Toasts() {
  const urgent = toasts.value.filter((toast) => toast.tone === "bad");
  const calm = toasts.value.filter((toast) => toast.tone !== "bad");
  return (
    <div class="toasts" data-testid="toasts">
      <div role="alert">
        {urgent.map((toast) => (
          <OneToast key={toast.id} toast={toast} />
        ))}
      </div>
      <div role="status">
        {calm.map((toast) => (
          <OneToast key={toast.id} toast={toast} />
        ))}
      </div>
    </div>
  );
}

function OneToast({ toast }: { toast: Toast }) {
  return (
    <div class={`toast toast-${toast.tone}`}>
      {toast.tone === "bad" && <Icon name="warning" />}
      {toast.tone === "good" && <Icon name="check" />}
      <span>{toast.text}</span>
      <button type="button" class="toast-dismiss" onClick={() => dismiss(toast.id)} aria-label={toastWords().dismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}
