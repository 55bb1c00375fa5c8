// The glossary of the words that tournaments take from the language of poker (810/2015:58).
import { glossary } from "../words/glossary";

export function GlossaryList() {
  return (
    <dl class="tournament-glossary" data-testid="glossary">
      {glossary().map(([word, meaning]) => (
        <div key={word}>
          <dt>{word}</dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}
