// The bar at the top of every page but a table's, which has its own.
import { AccountItems, AccountMenu, playerName, SettingLines } from "../account/account_menu";
import { BalanceView } from "../account/balance";
import { identity, operator } from "../api/platform";
import { addressOf, route } from "../browser/routes";
import { Brand } from "../design/brand";
import { Menu } from "../design/overlays/menu";
import { SoundSwitch } from "../sound/sound_switch";
import { LanguageSwitch } from "../words/language_switch";
import { appWords } from "./words";
import "./app_bar.css";

export function AppBar() {
  const words = appWords();
  const { page } = route.value;
  const loggedIn = identity.value.kind !== "nobody";
  return (
    <header class="app-bar">
      <Brand />
      <nav class="app-nav wide-only" aria-label={words.pages}>
        <a href={addressOf({ page: "lobby" })} aria-current={page === "lobby" ? "page" : undefined}>
          {words.tables}
        </a>
        {loggedIn && (
          <a
            href={addressOf({ page: "account", part: "rounds" })}
            aria-current={page === "account" ? "page" : undefined}
            data-testid="to-account"
          >
            {words.account}
          </a>
        )}
      </nav>
      <span class="app-bar-gap" />
      {operator.value.environment === "development" && <span class="tag wide-only">{words.development}</span>}
      {loggedIn && <BalanceView mode={identity.value.kind === "guest" ? "MODE_DEMO" : "MODE_REAL"} titled />}
      <div class="row wide-only">
        <LanguageSwitch />
        <SoundSwitch />
        <AccountMenu />
      </div>
      <div class="row narrow-only">
        {!loggedIn && <LanguageSwitch />}
        <Menu icon="menu" label={words.menu} testId="menu">
          {loggedIn && <p class="menu-line">{playerName()}</p>}
          <AccountItems />
          <SettingLines />
        </Menu>
      </div>
    </header>
  );
}
