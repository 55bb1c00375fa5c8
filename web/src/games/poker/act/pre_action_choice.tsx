// What the player can decide before their turn; each is a switch, and at most one is on.
import { amount, type Unit } from "../../../words/money";
import type { Decisions } from "./decisions";
import { type Outlook, type PreActionKind, preActionsOffered } from "./pre_actions";
import { actWords } from "./words";

export function PreActions({ decisions, mode }: { decisions: Decisions; mode: Unit }) {
  const words = actWords();
  const outlook = decisions.outlook.value;
  if (!outlook) return null;
  const given = decisions.preAction.value?.kind;
  return (
    <fieldset class="pre-actions" data-testid="pre-actions">
      <legend>{words.before}</legend>
      <div class="pre-actions-choices">
        {preActionsOffered(outlook).map((kind) => (
          <button
            key={kind}
            type="button"
            class="pre-action"
            aria-pressed={given === kind}
            onClick={() => decisions.giveBefore(kind)}
            data-testid={`before-${kind}`}
          >
            <span class="pre-action-box" aria-hidden="true" />
            {label(kind, outlook, mode)}
          </button>
        ))}
      </div>
      <p class="quiet pre-actions-hint">{words.beforeHint}</p>
    </fieldset>
  );
}

function label(kind: PreActionKind, { to_call_cents }: Outlook, mode: Unit): string {
  const words = actWords();
  if (kind === "check_or_fold" && to_call_cents > 0) return words.justFold;
  return kind === "call" ? `${words.preActions.call} ${amount(to_call_cents, mode)}` : words.preActions[kind];
}
