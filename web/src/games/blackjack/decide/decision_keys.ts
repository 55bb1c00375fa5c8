// The keys of decisions, which are written on their buttons. They press the button that is shown, so that what a decision asks
// first is asked here too.
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { letterKeys } from "../../../design/letter_keys";
import type { Decisions } from "../felt/decisions";
import { decisionText } from "../words/decision_words";

export function useDecisionKeys(decisions: Decisions, table: RefObject<HTMLElement>): void {
  useLayoutEffect(() => {
    const root = table.current;
    const pressed = (event: KeyboardEvent) => {
      const question = decisions.question.value;
      if (!question || !letterKeys.value || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.target instanceof Element && event.target.closest("dialog")) return;
      const key = event.key.toUpperCase();
      const chosen = question.possible.find(({ decision }) => decisionText(decision).key === key);
      if (!chosen) return;
      root?.querySelector<HTMLElement>(`[data-testid="${chosen.decision}"]`)?.click();
    };
    root?.addEventListener("keydown", pressed);
    return () => root?.removeEventListener("keydown", pressed);
  }, [decisions, table]);
}
