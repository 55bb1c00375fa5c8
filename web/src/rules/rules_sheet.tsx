// A table's complete rules, for anybody to read; Portuguese first (903-B/2015:6.1.6).
import { useEffect, useState } from "preact/hooks";
import { call } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Sheet } from "../design/overlays/sheet";
import { dictionary, type Language, language } from "../words/language";
import { LanguageSwitch } from "../words/language_switch";
import { refusalText } from "../words/refusals";
import { Markdown } from "./markdown";

const rulesSheetWords = dictionary(
  {
    rulesTitle: (name: string) => `Regras: ${name}`,
    rulesPrevail: "O texto português prevalece.",
  },
  {
    rulesTitle: (name: string) => `Rules: ${name}`,
    rulesPrevail: "The Portuguese text prevails.",
  },
);

interface Props {
  tableId: string;
  /** The table's name. */
  name: string;
  onClose: () => void;
}

export function RulesSheet({ tableId, name, onClose }: Props) {
  const [shownLanguage, setShownLanguage] = useState<Language>(language.value);
  const [text, setText] = useState<{ language: Language; text: string } | null>(null);
  const [failed, setFailed] = useState<Refusal | null>(null);
  useEffect(() => {
    let mounted = true;
    call("TableService.GetRules", { table_id: tableId, language: shownLanguage }).then(
      (rules) => mounted && setText({ language: shownLanguage, text: rules.text }),
      (error) => mounted && error instanceof Refusal && setFailed(error),
    );
    return () => {
      mounted = false;
    };
  }, [tableId, shownLanguage]);
  const words = rulesSheetWords();
  return (
    <Sheet title={words.rulesTitle(name)} wide onClose={onClose} testId="rules">
      <div class="row apart">
        <LanguageSwitch chosen={shownLanguage} choose={setShownLanguage} />
        {shownLanguage === "en" && <span class="quiet">{words.rulesPrevail}</span>}
      </div>
      {text ? <Markdown text={text.text} lang={text.language} /> : failed && <p>{refusalText(failed, "MODE_REAL")}</p>}
    </Sheet>
  );
}
