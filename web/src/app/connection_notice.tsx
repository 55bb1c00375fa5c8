// A strip at the top while the connection is lost. The page below stays, and nothing on it is lost.
import { useEffect, useState } from "preact/hooks";
import { connectionState } from "../api/platform";
import { route } from "../browser/routes";
import { appWords } from "./words";

// A connection that returns sooner is not worth a notice.
const WORTH_SAYING_MS = 900;

export function ConnectionNotice() {
  const state = connectionState.value;
  const [lost, setLost] = useState(false);
  useEffect(() => {
    if (state === "open") {
      setLost(false);
      return;
    }
    const timer = setTimeout(() => setLost(true), WORTH_SAYING_MS);
    return () => clearTimeout(timer);
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
