"""Limits how much a round may hold (G11), and how much of that one player may use, so that others have room, too.

Every stake counts that was ever placed, also one that the wallet refused or the player cancelled: ledger and journal
keep them all, and the end of the round reads them all.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.kit.table.refusals import TableRefused

# A player may use a seat's share of the round, within these bounds: more than a person clicks, and so little that it
# takes a hundred players to fill a round. All stakes of one player in a round have to fit into one answer.
STAKES_PER_PLAYER_MIN, STAKES_PER_PLAYER_MAX = 200, 1_000
DETAIL_BYTES_PER_PLAYER_MIN, DETAIL_BYTES_PER_PLAYER_MAX = 32 * 1024, 256 * 1024
# Players who have bet in one round, those included who have left since: the end of the round is one transfer for all of
# them, which the ledger shows on one page.
PLAYERS_LIMIT = 5_000


@dataclass(slots=True)
class _Count:
    stakes: int = 0
    detail_bytes: int = 0
    cancellations: int = 0


class RoundLimits:
    """Counts the stakes of one round, and refuses what would be too many."""

    def __init__(self, round_id: str, seats: int) -> None:
        self._round_id = round_id
        self.stakes_per_player = min(max(STAKES_LIMIT // seats, STAKES_PER_PLAYER_MIN), STAKES_PER_PLAYER_MAX)
        self.detail_bytes_per_player = min(
            max(DETAIL_BYTES_LIMIT // seats, DETAIL_BYTES_PER_PLAYER_MIN), DETAIL_BYTES_PER_PLAYER_MAX
        )
        self._total = _Count()
        self._by_player: dict[str, _Count] = {}

    def verify_room(self, player_id: str, detail_bytes: int, stakes: int = 1) -> None:
        """Refuses more stakes of this player, or parts of stakes that are taken back, if they would be too many."""
        own = self._by_player.get(player_id, _Count())
        if own.stakes + stakes > self.stakes_per_player:
            raise self._too_many(self.stakes_per_player)
        if own.detail_bytes + detail_bytes > self.detail_bytes_per_player:
            raise self._too_many(self.detail_bytes_per_player)
        if player_id not in self._by_player and len(self._by_player) >= PLAYERS_LIMIT:
            raise self._full(PLAYERS_LIMIT)
        if self._total.stakes + stakes > STAKES_LIMIT:
            raise self._full(STAKES_LIMIT)
        if self._total.detail_bytes + detail_bytes > DETAIL_BYTES_LIMIT:
            raise self._full(DETAIL_BYTES_LIMIT)

    def count_stakes(self, player_id: str, detail_bytes: int, stakes: int = 1) -> None:
        """Counts stakes that were placed, or parts of stakes that are taken back: ledger and journal keep both."""
        for count in (self._total, self._by_player.setdefault(player_id, _Count())):
            count.stakes += stakes
            count.detail_bytes += detail_bytes

    def count_cancellation(self, player_id: str) -> None:
        """Counts a cancellation; refused at as many as the player may place stakes: each is remembered (G3, G11)."""
        own = self._by_player.setdefault(player_id, _Count())
        if own.cancellations >= self.stakes_per_player:
            raise self._too_many(self.stakes_per_player)
        own.cancellations += 1

    def _too_many(self, limit: int) -> TableRefused:
        sentence = (
            "You have placed and taken back as much as one player may in one round: the next one takes your bets."
        )
        return TableRefused("TOO_MANY_BETS", sentence, round_id=self._round_id, limit=limit)

    def _full(self, limit: int) -> TableRefused:
        sentence = "The players have bet as much as one round may hold: the next one takes your bets."
        return TableRefused("ROUND_FULL", sentence, round_id=self._round_id, limit=limit)
