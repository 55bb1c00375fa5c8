// Below the felt: what the player may do in their turn with its bounds and cost, and before it what they can decide ahead.
import { useLayoutEffect, useRef } from "preact/hooks";
import { letterKeys } from "../../../design/letter_keys";
import type { LiveTable } from "../../../table/live/live_table";
import { amount, type Unit } from "../../../words/money";
import { ActionClock } from "./action_clock";
import type { Decisions, Question } from "./decisions";
import { PreActions } from "./pre_action_choice";
import { RaiseControl } from "./raise_control";
import { actWords } from "./words";
import "./action_bar.css";

interface Props {
  decisions: Decisions;
  table: Pick<LiveTable, "turn" | "snapshot" | "unit">;
}

/** Nothing where the player has nothing to decide, now or later in this hand. */
export function ActionBar({ decisions, table }: Props) {
  const question = decisions.question.value;
  const refused = decisions.refused.value;
  const mode = table.unit.value;
  return (
    <div class="action-bar-place" data-testid="action-bar">
      {/* Always in the page, so that screen readers announce its content. */}
      <p class="action-refused" role="alert" data-testid="action-refused">
        {refused}
      </p>
      {question ? (
        <Asked key={question.key} decisions={decisions} question={question} table={table} />
      ) : (
        decisions.outlook.value && <PreActions decisions={decisions} mode={mode} />
      )}
    </div>
  );
}

function Asked({ decisions, question, table }: Props & { question: Question }) {
  const words = actWords();
  const mode = table.unit.value;
  const box = useRef<HTMLFieldSetElement>(null);
  // Whoever plays with the keyboard is led here, unless they are elsewhere on the page.
  useLayoutEffect(() => {
    const focused = document.activeElement;
    const here = document.getElementById("main");
    if (!document.querySelector("dialog[open]") && (focused === document.body || here?.contains(focused))) {
      box.current?.focus({ preventScroll: true });
    }
  }, []);
  return (
    <fieldset ref={box} class="action-bar" tabIndex={-1} data-testid="asked" data-key={question.key}>
      <legend class="unseen">{words.yourTurn}</legend>
      <ActionClock table={table} />
      <div class="action-title">
        <strong aria-hidden="true">{words.yourTurn}</strong>
        <span class="figures" data-testid="bounds">
          {boundsText(question, mode)}
        </span>
        {letterKeys.value && <span class="unseen">{words.keys}</span>}
      </div>
      {decisions.foldAsked.value ? (
        <FoldQuestion decisions={decisions} />
      ) : (
        <>
          {question.raise && <RaiseControl decisions={decisions} choice={question.raise} mode={mode} />}
          <ActionButtons decisions={decisions} question={question} mode={mode} />
        </>
      )}
    </fieldset>
  );
}

/** The legal bounds of a bet, the computed maximum in euros among them (806/2015:24). */
function boundsText({ raise, min_to_cents, max_to_cents }: Question, mode: Unit): string {
  const words = actWords();
  if (!raise) return words.noRaise;
  const most = amount(max_to_cents, mode);
  return min_to_cents === max_to_cents ? words.only(most) : words.bounds(amount(min_to_cents, mode), most);
}

interface ButtonsProps {
  decisions: Decisions;
  question: Question;
  mode: Unit;
}

function ActionButtons({ decisions, question, mode }: ButtonsProps) {
  const words = actWords();
  const { to_call_cents, call_is_all_in, raise, opens } = question;
  const busy = decisions.acting.value;
  const chosen = raise?.cents.value ?? null;
  return (
    <div class="action-buttons">
      <ActionButton name="fold" letter="F" busy={busy} label={words.fold} onChoose={() => decisions.fold()} />
      <ActionButton
        name={to_call_cents ? "call" : "check"}
        letter="C"
        busy={busy}
        label={to_call_cents ? (call_is_all_in ? words.callAllIn : words.call) : words.check}
        figure={to_call_cents ? amount(to_call_cents, mode) : ""}
        onChoose={() => decisions.checkOrCall()}
      />
      {raise && (
        <ActionButton
          name="raise"
          letter="R"
          busy={busy || chosen === null}
          label={opens ? words.bet : words.raiseTo}
          figure={chosen === null ? "" : amount(chosen, mode)}
          note={chosen !== null && isAllIn(question, chosen) ? words.allIn : ""}
          onChoose={() => decisions.raise()}
        />
      )}
    </div>
  );
}

/** Whether a raise takes everything that the player has. */
function isAllIn({ bet_cents, stack_cents }: Question, to_cents: number): boolean {
  return to_cents === bet_cents + stack_cents;
}

interface ButtonProps {
  name: "fold" | "check" | "call" | "raise";
  letter: string;
  busy: boolean;
  label: string;
  figure?: string;
  note?: string;
  onChoose: () => void;
}

function ActionButton({ name, letter, busy, label, figure, note, onChoose }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button action action-${name}`}
      aria-disabled={busy}
      aria-keyshortcuts={letterKeys.value ? letter : undefined}
      onClick={() => !busy && onChoose()}
      data-testid={`act-${name}`}
    >
      <span>{label}</span>
      {figure && <span class="action-figure figures"> {figure}</span>}
      {note && <span class="action-note"> {note}</span>}
      {letterKeys.value && (
        <span class="action-key" aria-hidden="true">
          {letter}
        </span>
      )}
    </button>
  );
}

/** Folding where a check is free gives a claim to the pot away for nothing (806/2015:35): it is asked once. */
function FoldQuestion({ decisions }: { decisions: Decisions }) {
  const words = actWords();
  const busy = decisions.acting.value;
  return (
    <div class="action-fold-asked" role="alert" data-testid="fold-asked">
      <p>{words.foldAsk}</p>
      <div class="action-buttons">
        <ActionButton name="fold" letter="F" busy={busy} label={words.foldDo} onChoose={() => decisions.fold()} />
        <ActionButton
          name="check"
          letter="C"
          busy={busy}
          label={words.check}
          onChoose={() => decisions.checkOrCall()}
        />
      </div>
    </div>
  );
}
