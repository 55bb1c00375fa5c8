// A table's complete rules, to be read by anybody, playing or not; Portuguese first (903-B/2015:6.1.6).
import { useEffect, useState } from "preact/hooks";
import { call } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Sheet } from "../design/sheet";
import { type Language, language } from "../words/language";
import { LanguageSwitch } from "../words/language_switch";
import { Markdown } from "./markdown";
import { refusalWords } from "./refusal_words";
import { tableWords } from "./words";

interface Props {
  tableId: string;
  /** The table's name. */
  name: string;
  onClose: () => void;
}

export function RulesSheet({ tableId, name, onClose }: Props) {
  const [spoken, speak] = useState<Language>(language.value);
  const [text, setText] = useState<{ language: Language; text: string } | null>(null);
  const [failed, fail] = useState<Refusal | null>(null);
  useEffect(() => {
    let wanted = true;
    call("TableService.GetRules", { table_id: tableId, language: spoken }).then(
      (rules) => wanted && setText({ language: spoken, text: rules.text }),
      (error) => wanted && error instanceof Refusal && fail(error),
    );
    return () => {
      wanted = false;
    };
  }, [tableId, spoken]);
  const words = tableWords();
  return (
    <Sheet title={words.rulesTitle(name)} wide onClose={onClose} testId="rules">
      <div class="row apart">
        <LanguageSwitch chosen={spoken} choose={speak} />
        {spoken === "en" && <span class="quiet">{words.rulesPrevail}</span>}
      </div>
      {text ? <Markdown text={text.text} lang={text.language} /> : failed && <p>{refusalWords(failed, "MODE_REAL")}</p>}
    </Sheet>
  );
}
