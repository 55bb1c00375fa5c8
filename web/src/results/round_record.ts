// Reads the result of a round for the player from the platform's record.
import type { PlayerRound } from "../api/messages";
import { call, identity } from "../api/platform";
import { betsFromMessage, sumBets } from "../bets/bets";
import { cents } from "../words/money";
import type { OwnResult } from "./own_result";

// The newest round, and one that may have been opened since.
const NEWEST = 2;

/** Nothing is staked if the player had no bets in the round. */
export async function readOwnResult(game: string, table_id: string, round_id: string): Promise<OwnResult> {
  const record = await readPlayerRound(game, table_id, round_id);
  return {
    bets: sumBets((record?.stakes ?? []).flatMap(({ bets }) => [...betsFromMessage(bets)])),
    settled: !record || record.round?.state === "ROUND_STATE_SETTLED",
    staked_cents: cents(record?.staked_cents),
    payout_cents: cents(record?.payout_cents),
  };
}

/** The record itself; none of a round in which the player had no bets. */
export async function readPlayerRound(
  game: string,
  table_id: string,
  round_id: string,
): Promise<PlayerRound | undefined> {
  const player = identity.value;
  if (player.kind === "nobody") return undefined;
  const request = { game, player_id: player.playerId, table_id, page_size: NEWEST };
  const { rounds } = await call("TableService.ListPlayerRounds", request);
  return rounds.find(({ round }) => round?.round_id === round_id);
}
