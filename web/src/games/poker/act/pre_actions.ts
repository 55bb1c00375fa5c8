// Decisions that a player gives before their turn. The page sends them when the turn comes; nobody else learns of them.
import { type Cents, cents } from "../../../words/money";
import type { Action, Legal, View } from "../messages/messages";

export type PreActionKind = "check_or_fold" | "check" | "call" | "call_any";

/** What the player would face if it were their turn now. */
export interface Outlook {
  round_id: string;
  street: View["street"];
  to_call_cents: Cents;
}

export interface PreAction {
  kind: PreActionKind;
  /** What the player faced when they decided. */
  outlook: Outlook;
}

/** Null for a player who has nothing to decide any more in this hand, or was not dealt in. */
export function outlookOf(view: View | null, round_id: string, seat: number | undefined): Outlook | null {
  const own = view?.seats.find((each) => each.seat === seat);
  if (!view || !own || own.folded || own.all_in) return null;
  const highest = Math.max(...view.seats.map(({ bet_cents }) => cents(bet_cents)));
  // Whoever has less stays in for everything they have (806/2015:39).
  const to_call_cents = Math.min(cents(own.stack_cents), highest - cents(own.bet_cents));
  return { round_id, street: view.street, to_call_cents };
}

/** What may be decided before the turn. */
export function preActionsOffered({ to_call_cents }: Outlook): readonly PreActionKind[] {
  return to_call_cents > 0 ? ["check_or_fold", "call", "call_any"] : ["check_or_fold", "check", "call_any"];
}

/** Whether what was decided still answers what the player faces: the same betting round, and for the same amount. */
export function stillHolds({ kind, outlook }: PreAction, now: Outlook | null): boolean {
  if (!now || now.round_id !== outlook.round_id || now.street !== outlook.street) return false;
  const bound = kind === "check" || kind === "call";
  return !bound || now.to_call_cents === outlook.to_call_cents;
}

/** What is sent when the turn has come; null if what was decided does not answer it. */
export function actionOf({ kind, outlook }: PreAction, legal: Pick<Legal, "to_call_cents">): Action | null {
  const to_call_cents = cents(legal.to_call_cents);
  if (to_call_cents === 0) return "ACTION_CHECK";
  if (kind === "check_or_fold") return "ACTION_FOLD";
  if (kind === "call_any") return "ACTION_CALL";
  return kind === "call" && to_call_cents === outlook.to_call_cents ? "ACTION_CALL" : null;
}
