// A past round: both hands with their scores, the winner, and every bet with its payout and commission (812/2015:31). The frame
// adds the effect on the balance, as for every game.
import type { PlayerRound } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents, shortAmount } from "../../../words/money";
import { timeOfDay } from "../../../words/times";
import { MiniHands } from "../result/mini_hands";
import { chanceName } from "../words/chances";
import { describeOutcome, outcomeOf } from "../words/outcomes";
import { type PastBet, pastBets } from "./past_bets";
import "./past_round.css";

const pastRoundWords = dictionary(
  {
    dealt: (at: string) => `Cartas dadas às ${at}`,
    noCards: "As cartas não foram dadas.",
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
    dealt: (at: string) => `Dealt at ${at}`,
    noCards: "The cards were not dealt.",
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

export function PastRound({ round }: { round: PlayerRound }) {
  const words = pastRoundWords();
  const outcome = outcomeOf(round.round?.outcome);
  return (
    <div class="past-deal" data-testid="round-told">
      {outcome ? (
        <>
          <p class="past-deal-words">
            <strong>{describeOutcome(outcome)}</strong>
            {round.round?.drawn_at && <span class="quiet figures">{words.dealt(timeOfDay(round.round.drawn_at))}</span>}
          </p>
          <div class="past-deal-cards">
            <MiniHands outcome={outcome} />
          </div>
        </>
      ) : (
        round.round?.state === "ROUND_STATE_VOID" && <p>{words.noCards}</p>
      )}
      <BetsTable round={round} bets={pastBets(round)} />
    </div>
  );
}

type Column = [label: string, value: (bet: PastBet) => Cents | null];

function BetsTable({ round, bets }: { round: PlayerRound; bets: readonly PastBet[] }) {
  const words = pastRoundWords();
  const isVoid = round.round?.state === "ROUND_STATE_VOID";
  const demo = round.mode === "MODE_DEMO";
  const amountText = (value: Cents | null) =>
    value === null ? words.none : demo ? shortAmount(value) : amount(value, round.mode);
  const sum = (values: readonly (Cents | null)[]) =>
    values.reduce((all, value) => (all === null || value === null ? null : all + value), 0);
  const columns: Column[] = [
    [words.staked, ({ staked }) => staked],
    [isVoid ? words.returned : words.back, (bet) => (isVoid ? bet.staked : bet.payout)],
    ...(isVoid ? [] : [[words.prize, ({ prize }) => prize] as Column]),
    // A column for what is deducted only where something is.
    ...(bets.some(({ commission }) => commission) ? [[words.commission, (bet) => bet.commission] as Column] : []),
  ];
  return (
    <div class="past-deal-bets">
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
          {bets.map((bet) => (
            <tr key={bet.place} class={bet.prize ? "past-deal-won" : undefined} data-place={bet.place}>
              <th scope="row">{chanceName(bet.place)}</th>
              {columns.map(([label, value]) => (
                <td key={label} class="number">
                  {amountText(value(bet))}
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
                {amountText(sum(bets.map(value)))}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
