"""What the director of a tournament has ordered for one of its tables, as long as one process owns them."""

from __future__ import annotations

from dataclasses import dataclass, field

from google.protobuf.any_pb2 import Any as AnyMessage

from services.kit.table.chips.seam import HandToPlay, SeatedPlayer

# As `held` says of a table that its director has closed.
CLOSED = "closed"


@dataclass(slots=True)
class DirectedTable:
    """The orders that stand. A table that has failed and is opened again finds them here."""

    number: int
    players: dict[int, SeatedPlayer] = field(default_factory=dict)
    """By seat."""
    away: set[int] = field(default_factory=set)
    """Seats in *sit out*."""
    chips: dict[int, int] = field(default_factory=dict)
    """By seat, between hands."""
    notice: AnyMessage | None = None
    """The game's message about the tournament."""
    held: str = ""
    """Why no hand begins."""
    hand: HandToPlay | None = None
    """The hand to play, until its end was reported."""

    @property
    def is_closed(self) -> bool:
        return self.held == CLOSED

    def seat_of(self, player_id: str) -> int | None:
        """Returns the seat of a player; None if they sit elsewhere."""
        return next((seat for seat, player in self.players.items() if player.player_id == player_id), None)
