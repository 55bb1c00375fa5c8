// A line at the top while the platform cannot be heard. The page stays; nothing on it is lost.
import { useEffect, useState } from "preact/hooks";
import { lineState } from "./api/platform";
import { appWords } from "./app_words";
import { route } from "./routes";

// A connection that is back at once is not worth a word.
const WORTH_SAYING_MS = 900;

export function LineNotice() {
  const state = lineState.value;
  const [lost, tell] = useState(false);
  useEffect(() => {
    if (state === "open") {
      tell(false);
      return;
    }
    const saying = setTimeout(() => tell(true), WORTH_SAYING_MS);
    return () => clearTimeout(saying);
  }, [state]);
  return (
    <div class="line-notice" role="status" data-testid="line-notice">
      {lost && (
        <p>
          <span class="line-notice-dots" aria-hidden="true" />
          {route.value.page === "table" ? appWords().lostAtTable : appWords().lost}
        </p>
      )}
    </div>
  );
}
