// The keys of acting, which are written on the buttons. They press what is shown, so that what a decision asks first is asked
// here too.
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { letterKeys } from "../../../design/letter_keys";
import type { Decisions } from "./decisions";
import { POT_PARTS } from "./raise_amounts";

/** What a key does: the button that it presses, or a step of the amount; null for any other key. */
export function keyAction(key: string): { press: readonly string[] } | { steps: number } | null {
  switch (key.toLowerCase()) {
    case "f":
      return { press: ["act-fold"] };
    case "c":
      return { press: ["act-check", "act-call"] };
    case "r":
      return { press: ["act-raise"] };
    case "arrowup":
      return { steps: 1 };
    case "arrowdown":
      return { steps: -1 };
    default: {
      const part = POT_PARTS[Number(key) - 1];
      return part ? { press: [`part-${part}`] } : null;
    }
  }
}

/** Follows the keys that are pressed within the table. */
export function useActionKeys(decisions: Decisions, table: RefObject<HTMLElement>): void {
  useLayoutEffect(() => {
    const root = table.current;
    const pressed = (event: KeyboardEvent) => {
      const raise = decisions.question.value?.raise;
      if (!decisions.question.value || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof Element ? event.target : null;
      if (target?.closest("dialog")) return;
      const action = keyAction(event.key);
      if (!action) return;
      const typing = target?.matches("input[type=text]") ?? false;
      if ("steps" in action) {
        // A slider has its own arrows.
        if (!raise || target?.matches("input[type=range]")) return;
        event.preventDefault();
        raise.move(action.steps);
        return;
      }
      // Digits are typed in the field, and no letter that is held down acts twice.
      if (typing || event.repeat || !letterKeys.value) return;
      const button = action.press
        .map((name) => root?.querySelector<HTMLElement>(`[data-testid="${name}"]`))
        .find(Boolean);
      button?.click();
    };
    root?.addEventListener("keydown", pressed);
    return () => root?.removeEventListener("keydown", pressed);
  }, [decisions, table]);
}
