"""A player's seat at a table."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seat:
    """A player at the table. Other players see nothing of them but the seat number."""

    number: int
    player_id: str
    account_id: str
    session_id: str
