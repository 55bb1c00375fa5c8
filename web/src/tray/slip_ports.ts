// What a bet slip needs of the page around it.
import { balances, requestId, updateBalance } from "../api/platform";
import type { Refusal } from "../api/refusal";
import type { BetSlipPorts } from "../bets/bet_slip";
import type { LiveTable } from "../table/live/live_table";
import { cents } from "../words/money";

export function slipPorts(table: LiveTable, refused: (refusal: Refusal) => void): BetSlipPorts {
  return {
    requestId,
    updateBalance,
    freeBalance: () => {
      const balance = balances.value[table.mode.value];
      return balance ? { cents: cents(balance.free_cents), version: balance.version } : null;
    },
    refused,
  };
}
