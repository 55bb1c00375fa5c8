// The prizes of a round, commission deducted, as the regulation has them; the payout itself is the platform's.
import type { PlacedBets } from "../../../bets/bets";
import type { Cents } from "../../../words/money";
import type { Layout, Outcome, SpecificRules } from "../layout/messages";
import { winnerSide } from "../words/outcomes";

/** The chances that win with an outcome (812/2015:11, 22, 23). */
export function winningChances(outcome: Outcome): ReadonlySet<string> {
  return new Set([
    winnerSide(outcome.winner),
    ...(outcome.ponto_pair ? ["ponto-pair"] : []),
    ...(outcome.banca_pair ? ["banca-pair"] : []),
  ]);
}

/** The chances whose stakes come back without a prize: ponto and banca in a tie (812/2015:23). */
export function returnedChances(outcome: Outcome): ReadonlySet<string> {
  return new Set(outcome.winner === "WINNER_TIE" ? ["ponto", "banca"] : []);
}

/** The commission on a prize of banca (812/2015:26), in whole cents in the player's favour. */
export function commissionCents(rules: SpecificRules | undefined, outcome: Outcome, banca: Cents): Cents {
  if (outcome.winner !== "WINNER_BANCA") return 0;
  if (rules?.commission === "COMMISSION_FIVE_PERCENT") return Math.floor((banca * 5) / 100);
  const halved = rules?.commission === "COMMISSION_HALF_ON_SCORE" && rules.half_scores.includes(outcome.banca_score);
  return halved ? Math.floor(banca / 2) : 0;
}

/** What the bets of a round won beyond their stakes, commission deducted (812/2015:25, 26). */
export function prizeCents(layout: Layout, bets: PlacedBets, outcome: Outcome): Cents {
  const wins = winningChances(outcome);
  let prize = -commissionCents(layout.rules, outcome, bets.get("banca") ?? 0);
  for (const { place, prize: times } of layout.chances) if (wins.has(place)) prize += (bets.get(place) ?? 0) * times;
  return prize;
}
