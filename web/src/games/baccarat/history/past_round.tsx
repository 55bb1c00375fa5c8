// A past round: both hands with their scores, the winner, and every bet with its payout and commission (812/2015:31). The frame
// adds the effect on the balance, as for every game.
import type { PlayerRound } from "../../../api/messages";
import { type PastBetRow, PastBetsTable } from "../../../rounds/past_bets_table";
import { dictionary } from "../../../words/language";
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
  },
  {
    dealt: (at: string) => `Dealt at ${at}`,
    noCards: "The cards were not dealt.",
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
      <PastBetsTable round={round} rows={pastBets(round).map(rowOf)} className="past-deal-bets" prizes />
    </div>
  );
}

function rowOf({ place, prize, ...bet }: PastBet): PastBetRow {
  return { ...bet, key: place, name: chanceName(place), prize, won: Boolean(prize) };
}
