// Who plays, and what is his: the menu of his account, or the way to log in.
import type { ComponentChildren } from "preact";
import { logIn, logOut, operator, toCashier, who } from "../api/platform";
import { appWords } from "../app_words";
import { Icon } from "../design/icon";
import { Menu, MenuItem } from "../design/menu";
import { say } from "../design/toast";
import { address, go } from "../routes";
import { SoundSwitch } from "../sound/sound_switch";
import { LanguageSwitch } from "../words/language_switch";

/** His name, as it can be shown. */
export function nameOfPlayer(): string {
  return who.value.kind === "player" ? who.value.playerId : appWords().guest;
}

async function leaveForGood(): Promise<void> {
  go({ page: "lobby" });
  await logOut();
  say(appWords().loggedOut);
}

/** The choices of his account, for a menu. */
export function AccountItems() {
  const words = appWords();
  const { kind } = who.value;
  return (
    <>
      {kind !== "nobody" && (
        <>
          <MenuItem icon="history" href={address({ page: "account", part: "rounds" })}>
            {words.rounds}
          </MenuItem>
          <MenuItem icon="clock" href={address({ page: "account", part: "sessions" })}>
            {words.sessions}
          </MenuItem>
          <MenuItem icon="money" href={address({ page: "account", part: "money" })}>
            {words.money}
          </MenuItem>
          <MenuItem icon="complaint" href={address({ page: "account", part: "complaints" })}>
            {words.complaints}
          </MenuItem>
        </>
      )}
      {kind === "player" && operator.value.cashier_url && (
        <MenuItem icon="money" onChoose={toCashier}>
          {words.cashier}
        </MenuItem>
      )}
      {kind !== "player" && operator.value.login_url && (
        <MenuItem icon="person" onChoose={logIn} testId="menu-log-in">
          {words.logIn}
        </MenuItem>
      )}
      {kind !== "nobody" && (
        <MenuItem icon="leave" onChoose={() => void leaveForGood()} testId="log-out">
          {kind === "guest" ? words.logOutGuest : words.logOut}
        </MenuItem>
      )}
    </>
  );
}

/** Language and sound, for a menu on a narrow page. */
export function SettingLines() {
  const words = appWords();
  return (
    <>
      <div class="menu-line">
        {words.language}
        <LanguageSwitch />
      </div>
      <div class="menu-line">
        {words.sound}
        <SoundSwitch />
      </div>
    </>
  );
}

interface AccountMenuProps {
  named?: boolean;
  /** What else can be set here. */
  children?: ComponentChildren;
}

/** On a wide page: his name with the menu, or the button to log in. */
export function AccountMenu({ named = true, children }: AccountMenuProps) {
  const words = appWords();
  if (who.value.kind === "nobody") {
    if (!operator.value.login_url) return null;
    return (
      <button type="button" class="button" onClick={logIn} data-testid="log-in">
        <Icon name="person" />
        {words.logIn}
      </button>
    );
  }
  return (
    <Menu
      icon="person"
      label={words.whoMenu(nameOfPlayer())}
      {...(named ? { text: nameOfPlayer() } : {})}
      testId="account-menu"
    >
      {!named && <p class="menu-line">{nameOfPlayer()}</p>}
      {who.value.kind === "guest" && <p class="menu-line">{words.guestHint}</p>}
      {children}
      <AccountItems />
    </Menu>
  );
}
