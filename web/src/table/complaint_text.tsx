// The field for a complaint's words, with a count of what still fits.
import { useId } from "preact/hooks";
import { dictionary } from "../words/language";

/** As many letters as the platform takes. */
export const LONGEST = 4000;

const words = dictionary(
  {
    left: (n: string) => `Pode escrever mais ${n} caracteres`,
    over: (n: string) => `São ${n} caracteres a mais`,
  },
  {
    left: (n: string) => `${n} characters left`,
    over: (n: string) => `${n} characters too many`,
  },
);

/** Letters as the platform counts them: what the eye takes for one may be two in this language's strings. */
export function letters(text: string): number {
  return [...text].length;
}

interface Props {
  label: string;
  hint?: string;
  text: string;
  write: (text: string) => void;
}

export function WordsField({ label, hint, text, write }: Props) {
  const id = useId();
  const left = LONGEST - letters(text.trim());
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
        {left < 0 ? words().over(String(-left)) : words().left(String(left))}
      </span>
    </div>
  );
}
