// The player's account menu, or the button to log in.
import type { ComponentChildren } from "preact";
import { goToCashier, identity, logIn, logOut, operator } from "../api/platform";
import { addressOf, goTo } from "../browser/routes";
import { Icon } from "../design/icon";
import { Menu, MenuItem } from "../design/overlays/menu";
import { notify } from "../design/overlays/toast";
import { SoundSwitch } from "../sound/sound_switch";
import { LanguageSwitch } from "../words/language_switch";
import { accountMenuWords } from "./menu_words";

/** The player's name, as it can be shown. */
export function playerName(): string {
  return identity.value.kind === "player" ? identity.value.playerId : accountMenuWords().guest;
}

async function logOutToLobby(): Promise<void> {
  goTo({ page: "lobby" });
  await logOut();
  notify(accountMenuWords().loggedOut);
}

/** The items of the account menu. */
export function AccountItems() {
  const words = accountMenuWords();
  const { kind } = identity.value;
  return (
    <>
      {kind !== "nobody" && (
        <>
          <MenuItem icon="history" href={addressOf({ page: "account", part: "rounds" })}>
            {words.rounds}
          </MenuItem>
          <MenuItem icon="clock" href={addressOf({ page: "account", part: "sessions" })}>
            {words.sessions}
          </MenuItem>
          <MenuItem icon="money" href={addressOf({ page: "account", part: "money" })}>
            {words.money}
          </MenuItem>
          <MenuItem icon="complaint" href={addressOf({ page: "account", part: "complaints" })}>
            {words.complaints}
          </MenuItem>
        </>
      )}
      {kind === "player" && operator.value.cashier_url && (
        <MenuItem icon="money" onChoose={goToCashier}>
          {words.cashier}
        </MenuItem>
      )}
      {kind !== "player" && operator.value.login_url && (
        <MenuItem icon="person" onChoose={logIn} testId="menu-log-in">
          {words.logIn}
        </MenuItem>
      )}
      {kind !== "nobody" && (
        <MenuItem icon="leave" onChoose={() => void logOutToLobby()} testId="log-out">
          {kind === "guest" ? words.logOutGuest : words.logOut}
        </MenuItem>
      )}
    </>
  );
}

/** Language and sound, for a menu on a narrow page. */
export function SettingLines() {
  const words = accountMenuWords();
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
  /** Further settings. */
  children?: ComponentChildren;
}

/** On a wide page: the player's name with the menu, or the button to log in. */
export function AccountMenu({ named = true, children }: AccountMenuProps) {
  const words = accountMenuWords();
  if (identity.value.kind === "nobody") {
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
      label={words.whoMenu(playerName())}
      {...(named ? { text: playerName() } : {})}
      testId="account-menu"
    >
      {!named && <p class="menu-line">{playerName()}</p>}
      {identity.value.kind === "guest" && <p class="menu-line">{words.guestHint}</p>}
      {children}
      <AccountItems />
    </Menu>
  );
}
