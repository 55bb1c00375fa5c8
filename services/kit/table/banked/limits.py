"""How often may still be bet in a round: by all together, and by one player, who must not use it up for the others.

Counted is all that was ever placed, refused by the wallet or taken back or not: the ledger and the journal keep it all
the same, and whoever ends the round has to read it.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.kit.table.refusals import TableRefused

# One player's share of a round is his seat's, within these: more than a hand can use, and so little that it takes a
# hundred players to fill a round. All that is his in one has to fit into one answer.
STAKES_PER_PLAYER_MIN, STAKES_PER_PLAYER_MAX = 200, 1_000
DETAIL_BYTES_PER_PLAYER_MIN, DETAIL_BYTES_PER_PLAYER_MAX = 32 * 1024, 256 * 1024
# Players who have bet in one round, also those who have left their seats to others since: what its end did to all of
# them is one transfer, which the ledger tells on one page.
PLAYERS_LIMIT = 5_000


@dataclass(slots=True)
class _Count:
    stakes: int = 0
    detail_bytes: int = 0
    take_backs: int = 0


class RoundLimits:
    """The counts of one round at a table with so many seats."""

    def __init__(self, round_id: str, seats: int) -> None:
        self._round_id = round_id
        self.stakes_per_player = min(max(STAKES_LIMIT // seats, STAKES_PER_PLAYER_MIN), STAKES_PER_PLAYER_MAX)
        self.detail_bytes_per_player = min(
            max(DETAIL_BYTES_LIMIT // seats, DETAIL_BYTES_PER_PLAYER_MIN), DETAIL_BYTES_PER_PLAYER_MAX
        )
        self._all = _Count()
        self._of: dict[str, _Count] = {}

    def verify_room(self, player_id: str, detail_bytes: int) -> None:
        """Refused if one more stake of his would be too many."""
        his = self._of.get(player_id, _Count())
        if his.stakes >= self.stakes_per_player:
            raise self._too_many(self.stakes_per_player)
        if his.detail_bytes + detail_bytes > self.detail_bytes_per_player:
            raise self._too_many(self.detail_bytes_per_player)
        if player_id not in self._of and len(self._of) >= PLAYERS_LIMIT:
            raise self._full(PLAYERS_LIMIT)
        if self._all.stakes >= STAKES_LIMIT:
            raise self._full(STAKES_LIMIT)
        if self._all.detail_bytes + detail_bytes > DETAIL_BYTES_LIMIT:
            raise self._full(DETAIL_BYTES_LIMIT)

    def count_stake(self, player_id: str, detail_bytes: int) -> None:
        """One more stake of his."""
        for count in (self._all, self._of.setdefault(player_id, _Count())):
            count.stakes += 1
            count.detail_bytes += detail_bytes

    def count_cancellation(self, player_id: str) -> None:
        """Refused if he has asked for his bets back as often as he may bet: each time is remembered (G3, G11)."""
        his = self._of.setdefault(player_id, _Count())
        if his.take_backs >= self.stakes_per_player:
            raise self._too_many(self.stakes_per_player)
        his.take_backs += 1

    def _too_many(self, limit: int) -> TableRefused:
        sentence = (
            "You have placed and taken back as much as one player may in one round: the next one takes your bets."
        )
        return TableRefused("TOO_MANY_BETS", sentence, round_id=self._round_id, limit=limit)

    def _full(self, limit: int) -> TableRefused:
        sentence = "The players have bet as much as one round may hold: the next one takes your bets."
        return TableRefused("ROUND_FULL", sentence, round_id=self._round_id, limit=limit)
