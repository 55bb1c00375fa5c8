// The player's chips, stakes and actions.
import type { ReadonlySignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { balances } from "../api/platform";
import type { BetSlip, Blocked } from "../bets/bet_slip";
import { type PlacedBets, totalOf } from "../bets/bets";
import { ChipFace } from "../chips/chip_face";
import type { Chip } from "../chips/chips";
import { Icon, type IconName, Pictogram } from "../design/icon";
import type { LiveTable } from "../table/live/live_table";
import { resultPending } from "../table/live/result_pending";
import { amount } from "../words/money";
import { trayWords } from "./words";
import "./tray.css";
import "./pending_amount.css";

/** What the tray needs of a game's felt. */
export interface BettingFelt {
  readonly table: LiveTable;
  readonly slip: BetSlip;
  readonly chips: readonly Chip[];
  readonly chosenChip: ReadonlySignal<Chip>;
  /** The player's chips that count. */
  readonly countedBets: ReadonlySignal<PlacedBets>;
  readonly bettable: ReadonlySignal<boolean>;
  choose(chip: Chip): void;
  repeat(): void;
  double(): void;
  /** Starts the round at an individual table. */
  start(): void;
  showNotice(text: string): void;
}

/** How an individual table's round is started, in the game's words and with its pictogram. */
export interface StartAction {
  /** For tests. */
  name: string;
  key: string;
  icon: string;
  label: string;
  hint: string;
}

interface Props {
  felt: BettingFelt;
  start: StartAction;
}

export function Tray({ felt, start }: Props) {
  return (
    <div class="tray" data-testid="tray">
      <Totals felt={felt} />
      <Chips felt={felt} />
      <Actions felt={felt} start={start} />
    </div>
  );
}

function Totals({ felt }: { felt: BettingFelt }) {
  const words = trayWords();
  const mode = felt.table.mode.value;
  const staked = totalOf(felt.countedBets.value);
  const waiting = totalOf(felt.slip.pending.value);
  return (
    <dl class="tray-totals figures">
      <div>
        <dt>{words.staked}</dt>
        <dd data-testid="staked" data-cents={staked}>
          {amount(staked, mode)}
          {waiting > 0 && (
            <span class="tray-waiting" data-testid="waiting" data-cents={waiting}>
              + {words.waiting(amount(waiting, mode))}
            </span>
          )}
        </dd>
      </div>
      <div class="tray-unit">
        <dt>{words.unit}</dt>
        <dd data-testid="unit">{amount(felt.chosenChip.value.value, mode)}</dd>
      </div>
    </dl>
  );
}

function Chips({ felt }: { felt: BettingFelt }) {
  const words = trayWords();
  const mode = felt.table.mode.value;
  const balance = balances.value[mode];
  // While a result is being shown, the affordable chips stay as they were: they must not reveal it.
  const afford = useRef(Number.POSITIVE_INFINITY);
  if (balance && !resultPending.value) afford.current = Number(balance.free_cents);
  const free = afford.current;
  return (
    <fieldset class="tray-chips">
      <legend class="unseen">{words.chips}</legend>
      {felt.chips.map((chip) => (
        <label
          key={chip.value}
          class={chip.value > free ? "tray-chip beyond" : "tray-chip"}
          title={words.chip(amount(chip.value, mode))}
        >
          <input
            type="radio"
            class="unseen"
            name="chip"
            checked={felt.chosenChip.value.value === chip.value}
            onChange={() => felt.choose(chip)}
            aria-label={words.chip(amount(chip.value, mode))}
            data-testid={`chip-${chip.value}`}
          />
          <svg viewBox="-22 -22 44 44" aria-hidden="true">
            <ChipFace value={chip.value} colour={chip.colour} radius={20} />
          </svg>
        </label>
      ))}
    </fieldset>
  );
}

function Actions({ felt, start }: Props) {
  const words = trayWords();
  const { slip } = felt;
  const closed: Blocked = felt.bettable.value ? null : "closed";
  const nothing: Blocked = slip.allBets.value.size === 0 ? "nothing" : null;
  return (
    <div class="tray-actions">
      <Action
        felt={felt}
        name="undo"
        bar={closed ?? slip.undoBlocked.value}
        label={words.undo}
        hint={words.undoHint}
        act={() => slip.undo()}
      />
      <Action
        felt={felt}
        name="clear"
        bar={closed ?? slip.undoBlocked.value}
        label={words.clear}
        hint={words.clearHint}
        act={() => slip.clear()}
      />
      {slip.repeats && (
        <Action
          felt={felt}
          name="repeat"
          bar={closed ?? slip.repeatBlocked.value}
          label={words.repeat}
          hint={words.repeatHint}
          act={() => felt.repeat()}
        />
      )}
      <Action
        felt={felt}
        name="double"
        bar={closed ?? slip.doubleBlocked.value}
        label={words.double}
        hint={words.doubleHint}
        act={() => felt.double()}
      />
      {felt.table.individual.value && (
        <Action
          felt={felt}
          name={start.name}
          icon={start.icon}
          bar={closed ?? nothing}
          label={start.label}
          hint={start.hint}
          act={() => felt.start()}
        />
      )}
    </div>
  );
}

interface ActionProps {
  felt: BettingFelt;
  name: string;
  /** The pictogram of the main action. */
  icon?: string;
  bar: Blocked;
  label: string;
  hint: string;
  act: () => void;
}

const ICONS: Readonly<Record<string, IconName>> = {
  undo: "undo",
  clear: "clear",
  repeat: "repeat",
};

function Sign({ name, icon }: Pick<ActionProps, "name" | "icon">) {
  if (icon !== undefined) return <Pictogram path={icon} />;
  const known = ICONS[name];
  return known ? <Icon name={known} /> : <b aria-hidden="true">×2</b>;
}

/** A button that says why, when it cannot act. */
function Action({ felt, name, icon, bar, label, hint, act }: ActionProps) {
  const why = bar && trayWords().blocked[bar];
  return (
    <button
      type="button"
      class={icon === undefined ? "button tray-action" : "button first tray-start"}
      aria-disabled={bar !== null}
      title={why ?? hint}
      aria-description={why ?? undefined}
      data-testid={name}
      onClick={() => (why ? felt.showNotice(why) : act())}
    >
      <Sign name={name} {...(icon === undefined ? {} : { icon })} />
      <span>{label}</span>
    </button>
  );
}
