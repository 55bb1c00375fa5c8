// Why his token opens nothing any more, until he has read it or is in again.
import { guestBefore, logIn, operator, shutOut } from "../api/platform";
import { Refusal } from "../api/refusal";
import { appWords } from "../app_words";
import { Icon } from "../design/icon";
import { refusalWords } from "../table/refusal_words";

export function ShutOut() {
  const reason = shutOut.value;
  if (!reason) return null;
  const words = appWords();
  const guest = guestBefore.value;
  return (
    <div class="shut-out" role="alert" data-testid="shut-out">
      <Icon name="warning" />
      <div>
        <strong>{guest ? words.guestOver : refusalWords(new Refusal(reason, {}, "", ""), "MODE_REAL")}</strong>
      </div>
      {operator.value.login_url && !guest && (
        <button type="button" class="button first" onClick={logIn}>
          {words.logIn}
        </button>
      )}
      <button
        type="button"
        class="button"
        onClick={() => {
          shutOut.value = "";
        }}
      >
        {words.dismiss}
      </button>
    </div>
  );
}
