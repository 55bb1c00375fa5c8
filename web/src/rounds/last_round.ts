// Reads the last round in which the player took part at a table (804/2015:24).
import type { PlayerRound } from "../api/messages";
import { call, identity } from "../api/platform";

/** `pending` are rounds whose result is still being shown: they are skipped. */
export async function readLastRound(
  game: string,
  tableId: string,
  pending: readonly string[],
): Promise<PlayerRound | null> {
  const player = identity.value;
  if (player.kind === "nobody") return null;
  const { rounds } = await call("TableService.ListPlayerRounds", {
    game,
    player_id: player.playerId,
    table_id: tableId,
    // The newest may be pending, and the one before it too.
    page_size: 3,
  });
  return rounds.find((one) => !pending.includes(one.round?.round_id ?? "")) ?? null;
}
