// All transactions of the player's account, newest first, with the balance before and after each.
import { useEffect, useState } from "preact/hooks";
import type { Mode, Transaction } from "../api/messages";
import { balances, call, goToCashier, identity, operator, readBalance } from "../api/platform";
import { Icon } from "../design/icon";
import { PagedList } from "../paging/paged_list";
import { pageRequest, usePages } from "../paging/pages";
import { bareAmount, cents, signedAmount } from "../words/money";
import { dateTime } from "../words/times";
import { BalanceView } from "./balance";
import { accountWords } from "./words";
import "./money.css";

const PAGE = 25;

export function Money() {
  const words = accountWords();
  const player = identity.value.kind === "player";
  const [mode, setMode] = useState<Mode>(player ? "MODE_REAL" : "MODE_DEMO");
  const account = balances.value[mode];
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    setAsked(false);
    void readBalance(mode).then(
      () => setAsked(true),
      () => setAsked(true),
    );
  }, [mode]);
  return (
    <div class="stack">
      <div class="row apart money-balance">
        {player && (
          <fieldset class="pills">
            <legend class="unseen">{words.modes}</legend>
            {(["MODE_REAL", "MODE_DEMO"] as const).map((name) => (
              <button key={name} type="button" aria-pressed={mode === name} onClick={() => setMode(name)}>
                {name === "MODE_REAL" ? words.money : words.credits}
              </button>
            ))}
          </fieldset>
        )}
        <BalanceView mode={mode} titled />
        {player && mode === "MODE_REAL" && operator.value.cashier_url && (
          <button type="button" class="button first" onClick={goToCashier} data-testid="cashier">
            <Icon name="money" />
            {words.cashier}
          </button>
        )}
      </div>
      {account ? (
        <Transactions key={account.account_id} accountId={account.account_id} mode={mode} />
      ) : (
        asked && <p class="paged-nothing">{words.noAccount}</p>
      )}
    </div>
  );
}

function Transactions({ accountId, mode }: { accountId: string; mode: Mode }) {
  const words = accountWords();
  const pages = usePages<Transaction>(accountId, async (token) => {
    const found = await call("WalletService.ListTransactions", {
      account_id: accountId,
      ...pageRequest(PAGE, token),
    });
    return { items: found.transactions, next: found.next_page_token };
  });
  return (
    <PagedList pages={pages} icon="money" nothing={words.moneyNone}>
      {(transactions) => (
        <table class="list money-list">
          <caption>{mode === "MODE_DEMO" ? words.inCredits : words.inEuros}</caption>
          <thead>
            <tr>
              <th scope="col" class="money-when">
                {words.when}
              </th>
              <th scope="col" class="money-what">
                {words.what}
              </th>
              <th scope="col">{words.balancePart}</th>
              <th scope="col" class="number">
                {words.before}
              </th>
              <th scope="col" class="number">
                {words.movement}
              </th>
              <th scope="col" class="number">
                {words.after}
              </th>
            </tr>
          </thead>
          {transactions.map((transaction) => (
            <TransactionRows key={transaction.transfer_id} transaction={transaction} mode={mode} />
          ))}
        </table>
      )}
    </PagedList>
  );
}

function TransactionRows({ transaction, mode }: { transaction: Transaction; mode: Mode }) {
  const words = accountWords();
  const { entries } = transaction;
  const deposit = transaction.kind === "TRANSFER_KIND_DEPOSIT";
  const what = deposit && mode === "MODE_DEMO" ? words.refill : (words.kinds[transaction.kind] ?? transaction.kind);
  return (
    <tbody data-testid="transaction">
      {entries.map((entry, at) => {
        const moved = cents(entry.amount_cents);
        return (
          <tr key={entry.balance_part}>
            {at === 0 && (
              <>
                <td rowSpan={entries.length} class="figures quiet money-when">
                  {dateTime(transaction.at)}
                </td>
                <td rowSpan={entries.length} class="money-what">
                  <strong>{what}</strong>
                  {transaction.round_id && <span class="quiet money-round">{transaction.round_id}</span>}
                </td>
              </>
            )}
            <td class="quiet money-where">
              {transaction.cave_table_id
                ? words.cave
                : entry.balance_part === "BALANCE_PART_LOCKED"
                  ? words.locked
                  : words.free}
            </td>
            <td class="number quiet">{bareAmount(cents(entry.before_cents), mode)}</td>
            <td class={moved > 0 ? "number good" : "number"}>{signedAmount(moved, mode, bareAmount)}</td>
            <td class="number">
              <strong>{bareAmount(cents(entry.after_cents), mode)}</strong>
            </td>
          </tr>
        );
      })}
    </tbody>
  );
}
