// The field for a complaint's text, with a count of the characters left.
import { useId } from "preact/hooks";
import { dictionary } from "../words/language";

/** The platform's limit. */
export const MAX_CHARACTERS = 4000;

const complaintTextWords = dictionary(
  {
    left: (n: string) => `Pode escrever mais ${n} caracteres`,
    over: (n: string) => `São ${n} caracteres a mais`,
  },
  {
    left: (n: string) => `${n} characters left`,
    over: (n: string) => `${n} characters too many`,
  },
);

/** Counts characters as the platform does: a JavaScript string counts some of them as two. */
export function countCharacters(text: string): number {
  return [...text].length;
}

interface Props {
  label: string;
  hint?: string;
  text: string;
  write: (text: string) => void;
}

export function ComplaintTextField({ label, hint, text, write }: Props) {
  const id = useId();
  const left = MAX_CHARACTERS - countCharacters(text.trim());
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <span class="quiet" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      <textarea
        id={id}
        rows={6}
        value={text}
        aria-describedby={`${id}-hint ${id}-left`}
        aria-invalid={left < 0}
        onInput={(event) => write(event.currentTarget.value)}
        data-testid="complaint-text"
      />
      <span id={`${id}-left`} class={left < 0 ? "complaint-left bad" : "complaint-left"}>
        {left < 0 ? complaintTextWords().over(String(-left)) : complaintTextWords().left(String(left))}
      </span>
    </div>
  );
}
