// Keyboard shortcuts, named in the buttons' titles. They work only while the focus is at the table, so that nobody who
// speaks or types elsewhere bets by accident; single letters can be switched off.
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { letterKeys } from "../design/letter_keys";
import type { BettingFelt } from "./tray";

export function useShortcuts(felt: BettingFelt, table: RefObject<HTMLElement>, startKey: string): void {
  useLayoutEffect(() => {
    const root = table.current;
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !felt.bettable.value) return;
      if (event.target instanceof Element && event.target.closest("dialog")) return;
      const key = event.key.toLowerCase();
      if (key.length === 1 && !letterKeys.value) return;
      if (key === "backspace" && !felt.slip.undoBlocked.value) felt.slip.undo();
      else if (key === "r" && !felt.slip.repeatBlocked.value) felt.repeat();
      else if (key === "d" && !felt.slip.doubleBlocked.value) felt.double();
      else if (key === startKey && felt.table.individual.value && felt.slip.allBets.value.size) felt.start();
    };
    root?.addEventListener("keydown", pressed);
    return () => root?.removeEventListener("keydown", pressed);
  }, [felt, table, startKey]);
}
