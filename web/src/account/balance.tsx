// What he has, in one mode: what he can bet, and what lies on felts apart from it.
import { useRef } from "preact/hooks";
import type { Balance, Mode } from "../api/messages";
import { balances } from "../api/platform";
import { dictionary } from "../words/language";
import { amount, cents } from "../words/money";
import "./balance.css";

const words = dictionary(
  { balance: "Saldo", inPlay: (sum: string) => `+ ${sum} em jogo` },
  { balance: "Balance", inPlay: (sum: string) => `+ ${sum} in play` },
);

interface Props {
  mode: Mode;
  /** While a result is still being shown, the balance is what it was before: it must not tell the end. */
  held?: boolean;
  /** Says «Saldo» above it. */
  titled?: boolean;
}

/** What lies on felts, for a menu: a narrow bar has no room for it. */
export function InPlayLine({ mode, held }: { mode: Mode; held: boolean }) {
  const locked = cents(balances.value[mode]?.locked_cents);
  if (held || locked === 0) return null;
  return (
    <p class="menu-line figures" data-testid="menu-in-play">
      {words().inPlay(amount(locked, mode))}
    </p>
  );
}

/** Whoever comes while a result is still being shown is told his balance after it. */
function Awaited() {
  return (
    <span class="balance balance-titled" data-testid="balance">
      <span class="balance-title">{words().balance}</span>
      <strong class="figures">…</strong>
    </span>
  );
}

export function BalanceShown({ mode, held = false, titled = false }: Props) {
  const known = balances.value[mode];
  const shown = useRef<Balance>();
  if (!held || (shown.current && shown.current.mode !== mode)) shown.current = known;
  const balance = shown.current;
  if (!balance) return held && titled ? <Awaited /> : null;
  const locked = cents(balance.locked_cents);
  return (
    <span class={titled ? "balance balance-titled" : "balance"} data-testid="balance" data-cents={balance.free_cents}>
      <span class={titled ? "balance-title" : "unseen"}>{words().balance}</span>
      <strong class="figures">{amount(cents(balance.free_cents), mode)}</strong>
      {locked > 0 && <span class="balance-locked figures">{words().inPlay(amount(locked, mode))}</span>}
    </span>
  );
}
