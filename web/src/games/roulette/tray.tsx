// The player's chips, what he has staked, and what he can do with it.
import { useRef } from "preact/hooks";
import { balances } from "../../api/platform";
import { Icon, type IconName } from "../../design/icon";
import { heldBack } from "../../table/held_balance";
import { amount } from "../../words/money";
import type { Bar } from "./bet_slip";
import { total } from "./bets";
import { ChipFace } from "./chips_drawn";
import type { Felt } from "./felt";
import { words } from "./words";
import "./tray.css";
import "./tray_waiting.css";

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
  const say = words();
  const mode = felt.table.mode.value;
  const staked = total(felt.counting.value);
  const waiting = total(felt.slip.pending.value);
  return (
    <dl class="tray-totals figures">
      <div>
        <dt>{say.staked}</dt>
        <dd data-testid="staked" data-cents={staked}>
          {amount(staked, mode)}
          {waiting > 0 && (
            <span class="tray-waiting" data-testid="waiting" data-cents={waiting}>
              + {say.waiting(amount(waiting, mode))}
            </span>
          )}
        </dd>
      </div>
      <div class="tray-unit">
        <dt>{say.unit}</dt>
        <dd data-testid="unit">{amount(felt.chosen.value.value, mode)}</dd>
      </div>
    </dl>
  );
}

function Chips({ felt }: { felt: Felt }) {
  const say = words();
  const mode = felt.table.mode.value;
  const balance = balances.value[mode];
  // While a result is being shown, what he can afford is what it was.
  const afford = useRef(Number.POSITIVE_INFINITY);
  if (balance && !heldBack.value) afford.current = Number(balance.free_cents);
  const free = afford.current;
  return (
    <fieldset class="tray-chips">
      <legend class="unseen">{say.chips}</legend>
      {felt.chips.map((chip) => (
        <label
          key={chip.value}
          class={chip.value > free ? "tray-chip beyond" : "tray-chip"}
          title={say.chip(amount(chip.value, mode))}
        >
          <input
            type="radio"
            class="unseen"
            name="chip"
            checked={felt.chosen.value.value === chip.value}
            onChange={() => felt.choose(chip)}
            aria-label={say.chip(amount(chip.value, mode))}
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
  const say = words();
  const { slip } = felt;
  const shut: Bar = felt.bettable.value ? null : "closed";
  const rolling = felt.story.stage.value === "rolling";
  const nothing: Bar = slip.everything.value.size === 0 ? "nothing" : null;
  return (
    <div class="tray-actions">
      <Action
        felt={felt}
        name="undo"
        bar={shut ?? slip.undoBar.value}
        label={say.undo}
        hint={say.undoHint}
        act={() => slip.undo()}
      />
      <Action
        felt={felt}
        name="clear"
        bar={shut ?? slip.undoBar.value}
        label={say.clear}
        hint={say.clearHint}
        act={() => slip.clear()}
      />
      <Action
        felt={felt}
        name="repeat"
        bar={shut ?? slip.repeatBar.value}
        label={say.repeat}
        hint={say.repeatHint}
        act={() => felt.repeat()}
      />
      <Action
        felt={felt}
        name="double"
        bar={shut ?? slip.doubleBar.value}
        label={say.double}
        hint={say.doubleHint}
        act={() => felt.double()}
      />
      {felt.table.individual.value && (
        <Action
          felt={felt}
          name="spin"
          bar={shut ?? nothing}
          label={rolling ? say.rolling : say.spin}
          hint={say.spinHint}
          act={() => felt.spin()}
        />
      )}
    </div>
  );
}

interface ActionProps {
  felt: Felt;
  name: "undo" | "clear" | "repeat" | "double" | "spin";
  bar: Bar;
  label: string;
  hint: string;
  act: () => void;
}

const ICONS: Readonly<Record<Exclude<ActionProps["name"], "double">, IconName>> = {
  undo: "undo",
  clear: "clear",
  repeat: "repeat",
  spin: "wheel",
};

/** A button that says why it does nothing when it cannot. */
function Action({ felt, name, bar, label, hint, act }: ActionProps) {
  const why = bar && words().bars[bar];
  return (
    <button
      type="button"
      class={name === "spin" ? "button first tray-spin" : "button tray-action"}
      aria-disabled={bar !== null}
      title={why ?? hint}
      aria-description={why ?? undefined}
      data-testid={name}
      onClick={() => (why ? felt.say(why) : act())}
    >
      {name === "double" ? <b aria-hidden="true">×2</b> : <Icon name={ICONS[name]} />}
      <span>{label}</span>
    </button>
  );
}
