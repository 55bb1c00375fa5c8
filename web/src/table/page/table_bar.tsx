// The bar of a table: name, limits, time played, balance, and tools (903-B/2015:6.2.1). On a phone it is one line, and the
// rest is in the menu.
import { useLayoutEffect, useRef } from "preact/hooks";
import { AccountItems, AccountMenu, SettingLines } from "../../account/account_menu";
import { BalanceView, InPlayLine } from "../../account/balance";
import type { Mode, ShoeOnTable, TableConfiguration } from "../../api/messages";
import { focusLateHeading } from "../../browser/heading_focus";
import { Brand } from "../../design/brand";
import { Icon, type IconName } from "../../design/icon";
import { LetterKeysLine } from "../../design/letter_keys";
import { Menu, MenuItem } from "../../design/overlays/menu";
import { useSessionNow } from "../../design/use_clock";
import { loadedGame } from "../../game_interface/registered_games";
import { SoundSwitch } from "../../sound/sound_switch";
import { inLanguage, language } from "../../words/language";
import { LanguageSwitch } from "../../words/language_switch";
import { duration, durationInWords } from "../../words/times";
import { tableWords } from "./words";
import "./table_bar.css";

export type TableTool = "rules" | "last" | "history" | "complaint";

interface Props {
  configuration: TableConfiguration | undefined;
  mode: Mode;
  /** How many players sit here, at a table for many. */
  company?: number | undefined;
  /** Where the shoe goes on from round to round. */
  shoe?: ShoeOnTable | undefined;
  /** When the session began; absent without a session. */
  startedAt: string | undefined;
  resultPending: boolean;
  seated: boolean;
  onTool: (what: TableTool) => void;
  onLeave: () => void;
}

export function TableBar(props: Props) {
  const { configuration, mode, company, startedAt, resultPending, seated, onTool, onLeave } = props;
  const words = tableWords();
  const shoe = useShoeText(props.shoe, resultPending);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => focusLateHeading(heading.current), []);
  const game = loadedGame(configuration?.game);
  const tools: { name: TableTool; icon: IconName; label: string; needsSeat: boolean }[] = [
    { name: "rules", icon: "rules", label: words.rules, needsSeat: false },
    { name: "last", icon: "last", label: words.lastRound, needsSeat: true },
    { name: "history", icon: "history", label: words.history, needsSeat: true },
    { name: "complaint", icon: "complaint", label: words.complaint, needsSeat: true },
  ];
  const offered = tools.filter(({ needsSeat }) => configuration && (seated || !needsSeat));
  return (
    <header class="table-bar">
      <Brand short />
      <div class="table-bar-name">
        <h1 ref={heading} tabIndex={-1} title={inLanguage(configuration?.name)}>
          {inLanguage(configuration?.name) || words.table}
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
            {shoe && <span data-testid="shoe"> · {shoe}</span>}
          </p>
        )}
      </div>
      <span class="table-bar-gap" />
      <div class="table-bar-figures">
        {startedAt && <PlayedClock startedAt={startedAt} />}
        {seated && <BalanceView mode={mode} resultPending={resultPending} titled />}
      </div>
      <nav class="table-bar-tools" aria-label={words.tools}>
        {offered.map(({ name, icon, label }) => (
          <button
            key={name}
            type="button"
            class="tool"
            title={label}
            onClick={() => onTool(name)}
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
          {shoe && <p class="menu-line figures">{shoe}</p>}
          {seated && <InPlayLine mode={mode} resultPending={resultPending} />}
          {offered.map(({ name, icon, label }) => (
            <MenuItem key={name} icon={icon} onChoose={() => onTool(name)} testId={`menu-${name}`}>
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

/** How far the shoe is dealt, as far as the cards lie on the screen. */
function useShoeText(shoe: ShoeOnTable | undefined, resultPending: boolean): string {
  const shown = useRef(shoe);
  if (!resultPending) shown.current = shoe;
  return shown.current ? tableWords().shoe(shown.current.cards_taken, shown.current.cut_card) : "";
}

function PlayedClock({ startedAt }: { startedAt: string }) {
  const played_s = (useSessionNow(1000) - Date.parse(startedAt)) / 1000;
  const words = tableWords();
  const label = words.playedFor(durationInWords(played_s));
  return (
    <span class="played" data-testid="played" role="timer" aria-label={label} title={words.played}>
      <span class="played-title" aria-hidden="true">
        {words.played}
      </span>
      <span class="figures" aria-hidden="true">
        <Icon name="clock" />
        {duration(played_s)}
      </span>
    </span>
  );
}
