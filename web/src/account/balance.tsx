// The player's balance in one mode: what is free to bet, and what is in play.
import { useRef } from "preact/hooks";
import type { Balance, Mode } from "../api/messages";
import { balances } from "../api/platform";
import { dictionary } from "../words/language";
import { amount, cents } from "../words/money";
import "./balance.css";

const balanceWords = dictionary(
  { balance: "Saldo", inPlay: (sum: string) => `+ ${sum} em jogo` },
  { balance: "Balance", inPlay: (sum: string) => `+ ${sum} in play` },
);

interface Props {
  mode: Mode;
  /** While a result is still being shown, the balance stays as it was: it must not reveal the result. */
  resultPending?: boolean;
  /** With its title above it. */
  titled?: boolean;
}

/** The amount in play, for the menu of a bar too narrow for it. */
export function InPlayLine({ mode, resultPending }: { mode: Mode; resultPending: boolean }) {
  const locked = cents(balances.value[mode]?.locked_cents);
  if (resultPending || locked === 0) return null;
  return (
    <p class="menu-line figures" data-testid="menu-in-play">
      {balanceWords().inPlay(amount(locked, mode))}
    </p>
  );
}

/** Stands for the balance until the result that is being shown may be known. */
function PendingBalance() {
  return (
    <span class="balance balance-titled" data-testid="balance">
      <span class="balance-title">{balanceWords().balance}</span>
      <strong class="figures">…</strong>
    </span>
  );
}

export function BalanceView({ mode, resultPending = false, titled = false }: Props) {
  const known = balances.value[mode];
  const shown = useRef<Balance>();
  if (!resultPending || (shown.current && shown.current.mode !== mode)) shown.current = known;
  const balance = shown.current;
  if (!balance) return resultPending && titled ? <PendingBalance /> : null;
  const locked = cents(balance.locked_cents);
  return (
    <span class={titled ? "balance balance-titled" : "balance"} data-testid="balance" data-cents={balance.free_cents}>
      <span class={titled ? "balance-title" : "unseen"}>{balanceWords().balance}</span>
      <strong class="figures">{amount(cents(balance.free_cents), mode)}</strong>
      {locked > 0 && <span class="balance-locked figures">{balanceWords().inPlay(amount(locked, mode))}</span>}
    </span>
  );
}
