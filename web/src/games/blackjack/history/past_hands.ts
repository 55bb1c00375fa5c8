// A past round of a player: their places, what each hand was paid, and what was decided there.
import type { PlayerRound } from "../../../api/messages";
import { betsFromMessage } from "../../../bets/bets";
import { type Cents, cents } from "../../../words/money";
import type { BetResult, Choice, Hand, Move, Outcome } from "../messages/messages";
import { parseStake, type StakeName } from "../round/hand_results";

export interface PastHands {
  outcome: Outcome | null;
  hands: readonly Hand[];
  stakes: readonly PastStake[];
  decisions: readonly PastDecision[];
}

export interface PastStake extends StakeName {
  name: string;
  staked: Cents;
  /** Null until the round is settled. */
  payout: Cents | null;
}

export interface PastDecision {
  position: number;
  place: number;
  decision: Choice;
  insurance_cents: Cents;
  acted_by: PlayerRound["moves"][number]["acted_by"];
  made_at: string | undefined;
}

export function pastHands(round: PlayerRound): PastHands {
  const stakes = round.stakes.flatMap((stake) => {
    const results = (stake.results as { results?: readonly BetResult[] } | undefined)?.results;
    return [...betsFromMessage(stake.bets)].flatMap(([name, staked]): PastStake[] => {
      const parsed = parseStake(name);
      const result = results?.find(({ place }) => place === name);
      return parsed ? [{ ...parsed, name, staked, payout: result ? cents(result.payout_cents) : null }] : [];
    });
  });
  const places = new Set(stakes.map(({ place }) => place));
  const byName = new Map<string, PastStake>();
  // Several chips on one place are one bet.
  for (const stake of stakes) byName.set(stake.name, together(byName.get(stake.name), stake));
  const outcome = (round.round?.outcome as Outcome | undefined) ?? null;
  return {
    outcome,
    hands: outcome?.hands.filter(({ place }) => places.has(place)) ?? [],
    stakes: [...byName.values()].sort(byPlaceAndHand),
    decisions: round.moves.flatMap((recorded): PastDecision[] => {
      const move = recorded.move as Move | undefined;
      if (!move || move.decision === "DECISION_UNSPECIFIED" || !places.has(move.place)) return [];
      return [
        {
          position: recorded.position,
          place: move.place,
          decision: move.decision,
          insurance_cents: cents(move.insurance_cents),
          acted_by: recorded.acted_by,
          made_at: recorded.made_at,
        },
      ];
    }),
  };
}

function together(one: PastStake | undefined, other: PastStake): PastStake {
  if (!one) return other;
  const payout = one.payout === null || other.payout === null ? null : one.payout + other.payout;
  return { ...one, staked: one.staked + other.staked, payout };
}

const KINDS: readonly StakeName["kind"][] = ["bet", "split", "double", "insurance"];

function byPlaceAndHand(one: PastStake, other: PastStake): number {
  const last = (stake: PastStake) => (stake.kind === "insurance" ? 1 : 0);
  return (
    one.place - other.place ||
    last(one) - last(other) ||
    one.hand - other.hand ||
    KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind)
  );
}
