// The player's bets in a past round as a table, whatever the game: what each staked, what came back, and the sums.
import type { PlayerRound } from "../api/messages";
import { dictionary } from "../words/language";
import { amount, type Cents, shortAmount } from "../words/money";
import "./past_bets_table.css";

const tableWords = dictionary(
  {
    bets: "As suas apostas",
    betsInCredits: "As suas apostas, em créditos",
    bet: "Aposta",
    staked: "Apostado",
    back: "Recebido",
    returned: "Devolvido",
    prize: "Prémio",
    commission: "Comissão",
    total: "Total",
    none: "–",
  },
  {
    bets: "Your bets",
    betsInCredits: "Your bets, in credits",
    bet: "Bet",
    staked: "Staked",
    back: "Paid back",
    returned: "Given back",
    prize: "Prize",
    commission: "Commission",
    total: "Total",
    none: "–",
  },
);

/** A row: one bet of the player. Amounts are null while the round is not settled. */
export interface PastBetRow {
  key: string;
  name: string;
  staked: Cents;
  /** What came back, the stake included. */
  payout: Cents | null;
  /** Left out in a game that does not tell prizes apart. */
  prize?: Cents | null;
  /** What was deducted from the prize. */
  commission?: Cents | null;
  won: boolean;
}

interface Props {
  round: PlayerRound;
  rows: readonly PastBetRow[];
  /** The game's own class, for what its table shows differently. */
  className: string;
  /** Whether the game tells prizes apart. */
  prizes?: boolean;
}

type Column = [label: string, value: (row: PastBetRow) => Cents | null];

export function PastBetsTable({ round, rows, className, prizes = false }: Props) {
  const words = tableWords();
  const isVoid = round.round?.state === "ROUND_STATE_VOID";
  const demo = round.mode === "MODE_DEMO";
  const amountText = (value: Cents | null) =>
    value === null ? words.none : demo ? shortAmount(value) : amount(value, round.mode);
  const columns: Column[] = [
    [words.staked, ({ staked }) => staked],
    [isVoid ? words.returned : words.back, (row) => (isVoid ? row.staked : row.payout)],
    ...(prizes && !isVoid ? [[words.prize, ({ prize }) => prize ?? null] as Column] : []),
    // A column for what is deducted only where something is.
    ...(rows.some(({ commission }) => commission)
      ? [[words.commission, ({ commission }) => commission ?? null] as Column]
      : []),
  ];
  return (
    <div class={`past-bets ${className}`}>
      <table class="list" data-testid="told-bets">
        <caption>{demo ? words.betsInCredits : words.bets}</caption>
        <thead>
          <tr>
            <th scope="col">{words.bet}</th>
            {columns.map(([label]) => (
              <th key={label} scope="col" class="number">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} class={row.won ? "past-bets-won" : undefined} data-place={row.key}>
              <th scope="row">{row.name}</th>
              {columns.map(([label, value]) => (
                <td key={label} class="number">
                  {amountText(value(row))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{words.total}</th>
            {columns.map(([label, value]) => (
              <td key={label} class="number">
                {amountText(sum(rows.map(value)))}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function sum(values: readonly (Cents | null)[]): Cents | null {
  return values.reduce((all, value) => (all === null || value === null ? null : all + value), 0);
}
