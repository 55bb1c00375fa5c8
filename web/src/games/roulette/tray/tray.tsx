// The player's chips, stakes and actions.
import { useRef } from "preact/hooks";
import { balances } from "../../../api/platform";
import { Icon, type IconName, Pictogram } from "../../../design/icon";
import { resultPending } from "../../../table/live/result_pending";
import { amount } from "../../../words/money";
import type { Blocked } from "../bets/bet_slip";
import { totalOf } from "../bets/bets";
import { ChipFace } from "../chips/chip_face";
import type { Felt } from "../felt/felt";
import { WHEEL_ICON } from "../words/icons";
import { rouletteWords } from "../words/table_words";
import "./tray.css";
import "./pending_amount.css";

export function Tray({ felt }: { felt: Felt }) {
  return (
    <div class="tray" data-testid="tray">
      <Totals felt={felt} />
      <Chips felt={felt} />
      <Actions felt={felt} />
    </div>
  );
}

function Totals({ felt }: { felt: Felt }) {
  const words = rouletteWords();
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

function Chips({ felt }: { felt: Felt }) {
  const words = rouletteWords();
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

function Actions({ felt }: { felt: Felt }) {
  const words = rouletteWords();
  const { slip } = felt;
  const closed: Blocked = felt.bettable.value ? null : "closed";
  const rolling = felt.sequence.stage.value === "rolling";
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
      <Action
        felt={felt}
        name="repeat"
        bar={closed ?? slip.repeatBlocked.value}
        label={words.repeat}
        hint={words.repeatHint}
        act={() => felt.repeat()}
      />
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
          name="spin"
          bar={closed ?? nothing}
          label={rolling ? words.rolling : words.spin}
          hint={words.spinHint}
          act={() => felt.spin()}
        />
      )}
    </div>
  );
}

interface ActionProps {
  felt: Felt;
  name: "undo" | "clear" | "repeat" | "double" | "spin";
  bar: Blocked;
  label: string;
  hint: string;
  act: () => void;
}

const ICONS: Readonly<Record<"undo" | "clear" | "repeat", IconName>> = {
  undo: "undo",
  clear: "clear",
  repeat: "repeat",
};

function Sign({ name }: Pick<ActionProps, "name">) {
  if (name === "double") return <b aria-hidden="true">×2</b>;
  return name === "spin" ? <Pictogram path={WHEEL_ICON} /> : <Icon name={ICONS[name]} />;
}

/** A button that says why, when it cannot act. */
function Action({ felt, name, bar, label, hint, act }: ActionProps) {
  const why = bar && rouletteWords().blocked[bar];
  return (
    <button
      type="button"
      class={name === "spin" ? "button first tray-spin" : "button tray-action"}
      aria-disabled={bar !== null}
      title={why ?? hint}
      aria-description={why ?? undefined}
      data-testid={name}
      onClick={() => (why ? felt.showNotice(why) : act())}
    >
      <Sign name={name} />
      <span>{label}</span>
    </button>
  );
}
