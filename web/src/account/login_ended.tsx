// Says why the login ended, until the player dismisses it or logs in again.
import { logIn, loginEndedReason, operator, wasGuest } from "../api/platform";
import { Refusal } from "../api/refusal";
import { Icon } from "../design/icon";
import { refusalText } from "../words/refusals";
import { accountMenuWords } from "./menu_words";

export function LoginEnded() {
  const reason = loginEndedReason.value;
  if (!reason) return null;
  const words = accountMenuWords();
  const guest = wasGuest.value;
  return (
    <div class="shut-out" role="alert" data-testid="shut-out">
      <Icon name="warning" />
      <div>
        <strong>{guest ? words.guestOver : refusalText(new Refusal(reason, {}, "", ""), "MODE_REAL")}</strong>
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
          loginEndedReason.value = "";
        }}
      >
        {words.dismiss}
      </button>
    </div>
  );
}
