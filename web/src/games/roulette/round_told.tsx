// A past round told again, in pictures and words: the number on its wheel, the board with the player's chips, and every
// bet with what it came to (804/2015:24). What it meant to his account is told around it, as for every game.
import type { PlayerRound, TableConfiguration } from "../../api/messages";
import { dictionary } from "../../words/language";
import { timeOfDay } from "../../words/moments";
import { amount, type Cents, short } from "../../words/money";
import { colourClass, numberOf, qualities } from "./outcome_words";
import { placeName } from "./place_words";
import { betsTold, type ToldBet, wheelPlayed } from "./round_told_bets";
import { ToldBoard } from "./round_told_board";
import { WheelSector } from "./wheel_sector";
import "./round_told.css";

const words = dictionary(
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

export function RoundTold({ round, configuration }: Props) {
  const said = words();
  const number = numberOf(round.round?.outcome);
  const pockets = wheelPlayed(round, configuration);
  const bets = betsTold(round);
  return (
    <div class="round-told" data-testid="round-told" data-number={number}>
      {number ? (
        <div class="told-outcome">
          <WheelSector pockets={pockets} number={number} />
          <p class="told-drawn-words">
            <strong class={`told-drawn-number figures ${colourClass(number)}`}>{number}</strong>
            <span>
              <span class="told-qualities">{qualities(number)}</span>
              {round.round?.drawn_at && (
                <span class="quiet figures">{said.drawn(timeOfDay(round.round.drawn_at))}</span>
              )}
            </span>
          </p>
        </div>
      ) : (
        round.round?.status === "ROUND_STATUS_VOID" && <p>{said.noNumber}</p>
      )}
      <ToldBoard pockets={pockets} bets={bets} drawn={number} mode={round.mode} />
      <BetsTable round={round} bets={bets} />
    </div>
  );
}

function BetsTable({ round, bets }: { round: PlayerRound; bets: readonly ToldBet[] }) {
  const said = words();
  const isVoid = round.round?.status === "ROUND_STATUS_VOID";
  const demo = round.mode === "MODE_DEMO";
  const told = (value: Cents | null) => (value === null ? said.none : demo ? short(value) : amount(value, round.mode));
  const back = (bet: ToldBet) => (isVoid ? bet.staked : bet.payout);
  const sum = (values: readonly (Cents | null)[]) =>
    values.reduce((all, value) => (all === null || value === null ? null : all + value), 0);
  return (
    <div class="told-bets-room">
      <table class="list told-bets" data-testid="told-bets">
        <caption>{demo ? said.betsInCredits : said.bets}</caption>
        <thead>
          <tr>
            <th scope="col">{said.bet}</th>
            <th scope="col" class="number">
              {said.staked}
            </th>
            <th scope="col" class="number">
              {isVoid ? said.returned : said.back}
            </th>
            {!isVoid && (
              <th scope="col" class="number">
                {said.prize}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {bets.map((bet) => (
            <tr key={bet.place} class={bet.payout ? "told-won" : undefined} data-place={bet.place}>
              <th scope="row">{placeName(bet.place)}</th>
              <td class="number">{told(bet.staked)}</td>
              <td class="number">{told(back(bet))}</td>
              {!isVoid && <td class="number">{told(bet.prize)}</td>}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{said.total}</th>
            <td class="number">{told(sum(bets.map(({ staked }) => staked)))}</td>
            <td class="number">{told(sum(bets.map(back)))}</td>
            {!isVoid && <td class="number">{told(sum(bets.map(({ prize }) => prize)))}</td>}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
