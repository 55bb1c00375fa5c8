// The last round that the player took part in at a table (804/2015:24), as far as it is there to see.
import type { PlayerRound } from "../api/messages";
import { call, who } from "../api/platform";

/** `unfolding` are rounds that are still being shown: their end is not told here first. */
export async function lastRound(
  game: string,
  tableId: string,
  unfolding: readonly string[],
): Promise<PlayerRound | null> {
  const player = who.value;
  if (player.kind === "nobody") return null;
  const { rounds } = await call("TableService.ListPlayerRounds", {
    game,
    player_id: player.playerId,
    table_id: tableId,
    // The newest may be still being shown, and the one before it too.
    page_size: 3,
  });
  return rounds.find((one) => !unfolding.includes(one.round?.round_id ?? "")) ?? null;
}
