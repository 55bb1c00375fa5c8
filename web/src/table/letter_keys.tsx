// Whether single letters are keys at a table, and the switch for it: who speaks to his computer may not want them
// (WCAG 2.1.4).
import { effect, signal } from "@preact/signals";
import { recall, remember } from "../memory";
import { dictionary } from "../words/language";

const words = dictionary(
  { keys: "Teclas de uma letra", on: "Ligadas", off: "Desligadas" },
  { keys: "Single-letter keys", on: "On", off: "Off" },
);

export const letterKeys = signal(recall("letter-keys") !== "no");

effect(() => remember("letter-keys", letterKeys.value ? "yes" : "no"));

export function LetterKeysLine() {
  const { keys, on, off } = words();
  return (
    <div class="menu-line">
      <span id="letter-keys">{keys}</span>
      <button
        type="button"
        class="button plain"
        role="switch"
        aria-checked={letterKeys.value}
        id="letter-keys-state"
        aria-labelledby="letter-keys letter-keys-state"
        data-testid="letter-keys"
        onClick={() => {
          letterKeys.value = !letterKeys.value;
        }}
      >
        {letterKeys.value ? on : off}
      </button>
    </div>
  );
}
