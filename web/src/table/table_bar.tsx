// The bar of a table: which one it is, its limits, how long he has played, what he has, and what he can look up
// (903-B/2015:6.2.1). On a phone it is one line, and the rest is behind «mais».
import { useLayoutEffect, useRef } from "preact/hooks";
import { AccountItems, AccountMenu, SettingLines } from "../account/account_menu";
import { BalanceShown, InPlayLine } from "../account/balance";
import type { Mode, TableConfiguration } from "../api/messages";
import { appWords } from "../app_words";
import { greet } from "../design/arrival";
import { Brand } from "../design/brand";
import { Icon, type IconName } from "../design/icon";
import { Menu, MenuItem } from "../design/menu";
import { gameOf } from "../loaded_games";
import { SoundSwitch } from "../sound/sound_switch";
import { language, said } from "../words/language";
import { LanguageSwitch } from "../words/language_switch";
import { span, spanSaid } from "../words/moments";
import { LetterKeysLine } from "./letter_keys";
import { useSessionNow } from "./ticking";
import { tableWords } from "./words";
import "./table_bar.css";

export type Lookup = "rules" | "last" | "history" | "complaint";

interface Props {
  configuration: TableConfiguration | undefined;
  mode: Mode;
  /** How many sit here, where that may be more than he. */
  company?: number | undefined;
  /** Since when he plays here; nothing while he does not. */
  startedAt: string | undefined;
  held: boolean;
  seated: boolean;
  onLookup: (what: Lookup) => void;
  onLeave: () => void;
}

export function TableBar({ configuration, mode, company, startedAt, held, seated, onLookup, onLeave }: Props) {
  const words = tableWords();
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => greet(heading.current), []);
  const game = gameOf(configuration?.game);
  const lookups: { name: Lookup; icon: IconName; label: string; needsSeat: boolean }[] = [
    { name: "rules", icon: "rules", label: words.rules, needsSeat: false },
    { name: "last", icon: "last", label: words.lastRound, needsSeat: true },
    { name: "history", icon: "history", label: words.history, needsSeat: true },
    { name: "complaint", icon: "complaint", label: words.complaint, needsSeat: true },
  ];
  const offered = lookups.filter(({ needsSeat }) => configuration && (seated || !needsSeat));
  return (
    <header class="table-bar">
      <Brand label={appWords().toLobby} short />
      <div class="table-bar-name">
        <h1 ref={heading} tabIndex={-1} title={said(configuration?.name)}>
          {said(configuration?.name) || words.table}
        </h1>
        {configuration && (
          <p class="figures">
            <span class="unseen">{words.limits}: </span>
            {game?.limits(configuration)}
            {company !== undefined && (
              <span class="table-bar-company" data-testid="company">
                {" "}
                · {words.company(company, new Intl.NumberFormat(language.value).format(company))}
              </span>
            )}
          </p>
        )}
      </div>
      <span class="table-bar-gap" />
      <div class="table-bar-figures">
        {startedAt && <PlayedClock startedAt={startedAt} />}
        {seated && <BalanceShown mode={mode} held={held} titled />}
      </div>
      <nav class="table-bar-tools" aria-label={words.tools}>
        {offered.map(({ name, icon, label }) => (
          <button
            key={name}
            type="button"
            class="tool"
            title={label}
            onClick={() => onLookup(name)}
            data-testid={`open-${name}`}
          >
            <Icon name={icon} />
            <span>{label}</span>
          </button>
        ))}
      </nav>
      <div class="table-bar-settings">
        <LanguageSwitch />
        <SoundSwitch />
        <AccountMenu named={false}>
          <LetterKeysLine />
        </AccountMenu>
      </div>
      {seated && (
        <button
          type="button"
          class="button table-bar-leave"
          onClick={onLeave}
          title={words.leaveLong}
          data-testid="leave"
        >
          <Icon name="leave" />
          <span>{words.leave}</span>
        </button>
      )}
      <div class="table-bar-more">
        <Menu icon="menu" label={words.more} testId="table-more">
          {company !== undefined && (
            <p class="menu-line figures" data-testid="menu-company">
              {words.company(company, new Intl.NumberFormat(language.value).format(company))}
            </p>
          )}
          {seated && <InPlayLine mode={mode} held={held} />}
          {offered.map(({ name, icon, label }) => (
            <MenuItem key={name} icon={icon} onChoose={() => onLookup(name)} testId={`menu-${name}`}>
              {label}
            </MenuItem>
          ))}
          {seated && (
            <MenuItem icon="leave" onChoose={onLeave} testId="menu-leave">
              {words.leaveLong}
            </MenuItem>
          )}
          <SettingLines />
          <LetterKeysLine />
          <AccountItems />
        </Menu>
      </div>
    </header>
  );
}

function PlayedClock({ startedAt }: { startedAt: string }) {
  const played_s = (useSessionNow(1000) - Date.parse(startedAt)) / 1000;
  const words = tableWords();
  const heard = words.playedFor(spanSaid(played_s));
  return (
    <span class="played" data-testid="played" role="timer" aria-label={heard} title={words.played}>
      <span class="played-title" aria-hidden="true">
        {words.played}
      </span>
      <span class="figures" aria-hidden="true">
        <Icon name="clock" />
        {span(played_s)}
      </span>
    </span>
  );
}
