// A past round: the number on its wheel, the board with the player's chips, and every bet with its payout (804/2015:24).
// The frame adds the effect on the balance, as for every game.
import type { PlayerRound, TableConfiguration } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents, shortAmount } from "../../../words/money";
import { timeOfDay } from "../../../words/times";
import { WheelSector } from "../wheel/wheel_sector";
import { colourClass, drawnNumber, numberQualities } from "../words/outcomes";
import { placeName } from "../words/place_names";
import { type PastBet, pastBets, playedWheel } from "./past_bets";
import { PastBoard } from "./past_board";
import "./past_round.css";

const pastRoundWords = dictionary(
  {
    drawn: (at: string) => `Saiu às ${at}`,
    noNumber: "Não saiu nenhum número.",
    bets: "As suas apostas",
    betsInCredits: "As suas apostas, em créditos",
    bet: "Aposta",
    staked: "Apostado",
    back: "Recebido",
    returned: "Devolvido",
    prize: "Prémio",
    total: "Total",
    none: "–",
  },
  {
    drawn: (at: string) => `Drawn at ${at}`,
    noNumber: "No number was drawn.",
    bets: "Your bets",
    betsInCredits: "Your bets, in credits",
    bet: "Bet",
    staked: "Staked",
    back: "Paid back",
    returned: "Given back",
    prize: "Prize",
    total: "Total",
    none: "–",
  },
);

interface Props {
  round: PlayerRound;
  configuration?: TableConfiguration;
}

export function PastRound({ round, configuration }: Props) {
  const words = pastRoundWords();
  const number = drawnNumber(round.round?.outcome);
  const pockets = playedWheel(round, configuration);
  const bets = pastBets(round);
  return (
    <div class="round-told" data-testid="round-told" data-number={number}>
      {number ? (
        <div class="told-outcome">
          <WheelSector pockets={pockets} number={number} />
          <p class="told-drawn-words">
            <strong class={`told-drawn-number figures ${colourClass(number)}`}>{number}</strong>
            <span>
              <span class="told-qualities">{numberQualities(number)}</span>
              {round.round?.drawn_at && (
                <span class="quiet figures">{words.drawn(timeOfDay(round.round.drawn_at))}</span>
              )}
            </span>
          </p>
        </div>
      ) : (
        round.round?.state === "ROUND_STATE_VOID" && <p>{words.noNumber}</p>
      )}
      <PastBoard pockets={pockets} bets={bets} drawn={number} mode={round.mode} />
      <BetsTable round={round} bets={bets} />
    </div>
  );
}

function BetsTable({ round, bets }: { round: PlayerRound; bets: readonly PastBet[] }) {
  const words = pastRoundWords();
  const isVoid = round.round?.state === "ROUND_STATE_VOID";
  const demo = round.mode === "MODE_DEMO";
  const amountText = (value: Cents | null) =>
    value === null ? words.none : demo ? shortAmount(value) : amount(value, round.mode);
  const back = (bet: PastBet) => (isVoid ? bet.staked : bet.payout);
  const sum = (values: readonly (Cents | null)[]) =>
    values.reduce((all, value) => (all === null || value === null ? null : all + value), 0);
  return (
    <div class="told-bets-room">
      <table class="list told-bets" data-testid="told-bets">
        <caption>{demo ? words.betsInCredits : words.bets}</caption>
        <thead>
          <tr>
            <th scope="col">{words.bet}</th>
            <th scope="col" class="number">
              {words.staked}
            </th>
            <th scope="col" class="number">
              {isVoid ? words.returned : words.back}
            </th>
            {!isVoid && (
              <th scope="col" class="number">
                {words.prize}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {bets.map((bet) => (
            <tr key={bet.place} class={bet.payout ? "told-won" : undefined} data-place={bet.place}>
              <th scope="row">{placeName(bet.place)}</th>
              <td class="number">{amountText(bet.staked)}</td>
              <td class="number">{amountText(back(bet))}</td>
              {!isVoid && <td class="number">{amountText(bet.prize)}</td>}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{words.total}</th>
            <td class="number">{amountText(sum(bets.map(({ staked }) => staked)))}</td>
            <td class="number">{amountText(sum(bets.map(back)))}</td>
            {!isVoid && <td class="number">{amountText(sum(bets.map(({ prize }) => prize)))}</td>}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
