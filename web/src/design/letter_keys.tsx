// The setting whether single letters act as keyboard shortcuts, and its switch: speech input may trigger them by accident
// (WCAG 2.1.4).
import { effect, signal } from "@preact/signals";
import { readStored, writeStored } from "../browser/storage";
import { dictionary } from "../words/language";

const letterKeysWords = dictionary(
  { keys: "Teclas de uma letra", on: "Ligadas", off: "Desligadas" },
  { keys: "Single-letter keys", on: "On", off: "Off" },
);

export const letterKeys = signal(readStored("letter-keys") !== "no");

effect(() => writeStored("letter-keys", letterKeys.value ? "yes" : "no"));

export function LetterKeysLine() {
  const { keys, on, off } = letterKeysWords();
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
