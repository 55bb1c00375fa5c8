// What a round came to for the player, from the platform's record of it.
import type { PlayerRound } from "../../api/messages";
import { call, who } from "../../api/platform";
import { cents } from "../../words/money";
import { laid, sum } from "./bets";
import type { Brought } from "./felt_story";

// The newest of his rounds, and one that may have been opened since.
const NEWEST = 2;

/** Nothing staked if he had no bets in it. */
export async function ownRound(table_id: string, round_id: string): Promise<Brought> {
  const mine = await roundPlayed(table_id, round_id);
  return {
    bets: sum((mine?.stakes ?? []).flatMap(({ bets }) => [...laid(bets)])),
    settled: !mine || mine.round?.status === "ROUND_STATUS_SETTLED",
    staked_cents: cents(mine?.staked_cents),
    payout_cents: cents(mine?.payout_cents),
  };
}

/** The record itself; none of a round in which he had no bets. */
export async function roundPlayed(table_id: string, round_id: string): Promise<PlayerRound | undefined> {
  const player = who.value;
  if (player.kind === "nobody") return undefined;
  const asked = { game: "roulette", player_id: player.playerId, table_id, page_size: NEWEST };
  const { rounds } = await call("TableService.ListPlayerRounds", asked);
  return rounds.find(({ round }) => round?.round_id === round_id);
}
