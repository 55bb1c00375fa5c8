// A past round: the number on its wheel, the board with the player's chips, and every bet with its payout (804/2015:24).
// The frame adds the effect on the balance, as for every game.
import type { PlayerRound, TableConfiguration } from "../../../api/messages";
import { type PastBetRow, PastBetsTable } from "../../../rounds/past_bets_table";
import { dictionary } from "../../../words/language";
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
  },
  {
    drawn: (at: string) => `Drawn at ${at}`,
    noNumber: "No number was drawn.",
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
      <PastBetsTable round={round} rows={bets.map(rowOf)} className="told-bets" prizes />
    </div>
  );
}

function rowOf({ place, payout, ...bet }: PastBet): PastBetRow {
  return { ...bet, key: place, name: placeName(place), payout, won: Boolean(payout) };
}
