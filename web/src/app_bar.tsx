// The bar at the top of every page but a table's, which has its own.
import { AccountItems, AccountMenu, nameOfPlayer, SettingLines } from "./account/account_menu";
import { BalanceShown } from "./account/balance";
import { operator, who } from "./api/platform";
import { appWords } from "./app_words";
import { Brand } from "./design/brand";
import { Menu } from "./design/menu";
import { address, route } from "./routes";
import { SoundSwitch } from "./sound/sound_switch";
import { LanguageSwitch } from "./words/language_switch";
import "./app_bar.css";

export function AppBar() {
  const words = appWords();
  const { page } = route.value;
  const somebody = who.value.kind !== "nobody";
  return (
    <header class="app-bar">
      <Brand label={words.toLobby} />
      <nav class="app-nav wide-only" aria-label={words.pages}>
        <a href={address({ page: "lobby" })} aria-current={page === "lobby" ? "page" : undefined}>
          {words.tables}
        </a>
        {somebody && (
          <a
            href={address({ page: "account", part: "rounds" })}
            aria-current={page === "account" ? "page" : undefined}
            data-testid="to-account"
          >
            {words.account}
          </a>
        )}
      </nav>
      <span class="app-bar-gap" />
      {operator.value.environment === "development" && <span class="tag wide-only">{words.development}</span>}
      {somebody && <BalanceShown mode={who.value.kind === "guest" ? "MODE_DEMO" : "MODE_REAL"} titled />}
      <div class="row wide-only">
        <LanguageSwitch />
        <SoundSwitch />
        <AccountMenu />
      </div>
      <div class="row narrow-only">
        {!somebody && <LanguageSwitch />}
        <Menu icon="menu" label={words.menu} testId="menu">
          {somebody && <p class="menu-line">{nameOfPlayer()}</p>}
          <AccountItems />
          <SettingLines />
        </Menu>
      </div>
    </header>
  );
}
