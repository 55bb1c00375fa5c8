"""What players have left a table with, so that nobody takes chips off it by coming and going (A-18)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from feltro.table.v1 import kept_pb2
from services.kit.wire_format import timestamp

# The last that are remembered (G11): more players leave no table within the window.
DEPARTURES_LIMIT = 500


class Departures:
    """The last departures of a table, by player."""

    def __init__(self, kept: Iterable[kept_pb2.Departure] = ()) -> None:
        self._left = {each.player_id: (each.cave_cents, each.left_at.ToDatetime(UTC)) for each in kept}

    def note(self, player_id: str, cents: int, at: datetime) -> None:
        """Notes that a player takes a cave from the table."""
        self._left.pop(player_id, None)
        self._left[player_id] = cents, at
        if len(self._left) > DEPARTURES_LIMIT:
            del self._left[next(iter(self._left))]

    def forget(self, player_id: str) -> None:
        """Forgets what a player has left with who has brought it back."""
        self._left.pop(player_id, None)

    def forget_before(self, begin: datetime) -> None:
        """Forgets everybody who left before a moment."""
        self._left = {player_id: left for player_id, left in self._left.items() if left[1] > begin}

    def cents_of(self, player_id: str, since: datetime) -> int:
        """Returns what a player has left with since a moment; nothing if they have not."""
        cents, at = self._left.get(player_id, (0, since))
        return cents if at > since else 0

    def messages(self) -> Iterator[kept_pb2.Departure]:
        """Builds what is kept on record."""
        for player_id, (cents, at) in self._left.items():
            yield kept_pb2.Departure(player_id=player_id, cave_cents=cents, left_at=timestamp(at))
