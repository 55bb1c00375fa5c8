// The indicator with the bank's latest results, newest first (805/2015:4.c).
import type { PastOutcome } from "../../../api/messages";
import { bankResult, bankResultShort, bankResultText } from "../words/outcomes";
import { blackjackWords } from "../words/table_words";
import "./bank_results.css";

export function BankResults({ past }: { past: readonly PastOutcome[] }) {
  const words = blackjackWords();
  return (
    <div class="bank-results">
      <span class="bank-results-name" aria-hidden="true">
        {words.bank}
      </span>
      {past.length === 0 ? (
        <span class="quiet">{words.noResults}</span>
      ) : (
        <ol aria-label={words.results} data-testid="bank-results">
          {past.map(({ round_id, outcome }) => {
            const result = bankResult(outcome);
            return (
              <li
                key={round_id}
                class={`bank-result bank-${result.kind} figures`}
                data-result={bankResultShort(result)}
              >
                <span aria-hidden="true">{bankResultShort(result)}</span>
                <span class="unseen">{bankResultText(result)}</span>
              </li>
            );
          })}
        </ol>
      )}
    </div>
  );
}
