"""Who is there, of the players of a tournament: what lines and decisions say, at whichever table they sit."""

from __future__ import annotations

from services.kit.bus.connections import Line


class SeenPlayers:
    """What one owner has seen of the players. A next owner knows only who has decided in the latest hands."""

    def __init__(self) -> None:
        # Players who decide in person, whatever is known of their lines: some have none, such as a program that polls.
        self._deciding: set[str] = set()
        # Players who sit out because they were not connected when a hand began, and for nothing else.
        self._lost: set[str] = set()

    def note_decision(self, player_id: str) -> None:
        """Notes a decision in person, or that a player says that they are back."""
        self._deciding.add(player_id)
        self._lost.discard(player_id)

    def note_missed(self, player_id: str) -> None:
        """Notes that a player did not decide in time."""
        self._deciding.discard(player_id)

    def is_absent(self, player_id: str, line: Line) -> bool:
        """Whether a player sits out in the hand that begins: not connected, and never seen to decide (810/2015:26).

        Who loses the line later has the time to decide before the clock says so (27, 43).
        """
        if line is not Line.AWAY or player_id in self._deciding:
            return False
        self._lost.add(player_id)
        return True

    def is_back(self, player_id: str, line: Line) -> bool:
        """Whether a player who was absent for that is connected now; said once."""
        if player_id not in self._lost or line is not Line.CONNECTED:
            return False
        self._lost.discard(player_id)
        return True
