// Switches between Portuguese and English.
import { type Language, language } from "./language";
import "./language_switch.css";

const LANGUAGES: readonly { code: Language; name: string }[] = [
  { code: "pt", name: "Português" },
  { code: "en", name: "English" },
];

interface Props {
  /** The selected language, where it is not that of the whole page. */
  chosen?: Language;
  choose?: (language: Language) => void;
}

export function LanguageSwitch({ chosen = language.value, choose }: Props) {
  const take = (code: Language) => {
    if (choose) choose(code);
    else language.value = code;
  };
  return (
    <fieldset class="pills language-switch" data-testid="language-switch">
      <legend class="unseen">Língua · Language</legend>
      {LANGUAGES.map(({ code, name }) => (
        <button
          key={code}
          type="button"
          lang={code}
          aria-pressed={chosen === code}
          aria-label={`${code.toUpperCase()}, ${name}`}
          title={name}
          onClick={() => take(code)}
        >
          {code.toUpperCase()}
        </button>
      ))}
    </fieldset>
  );
}
