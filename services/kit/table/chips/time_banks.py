"""The time banks of the players of a tournament, which go with them from table to table (810/2015:42).

What each had left is journalled with every hand; a next owner finds what the latest one has, so that a takeover gives
back at most what a player has used up in a hand under way.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from services.kit.table.chips.rules import BroughtToHand

_NONE = (0, timedelta(0))


class TimeBanks:
    """What is left of each player's time bank."""

    def __init__(self) -> None:
        # With the number of the hand in which it was so, by player.
        self._left: dict[str, tuple[int, timedelta]] = {}

    def restore(self, brought: Iterable[tuple[str, BroughtToHand]]) -> None:
        """Takes what the journal has of players in a hand, unless a later hand is known."""
        for player_id, seat in brought:
            if seat.hand > self._left.get(player_id, _NONE)[0]:
                self._left[player_id] = seat.hand, seat.time_bank

    def of_player(self, player_id: str, whole: timedelta) -> timedelta:
        """Returns what is left of a bank, which is `whole` before the player's first hand."""
        left = self._left.get(player_id)
        return whole if left is None else min(left[1], whole)

    def spend(self, player_id: str, spent: timedelta, whole: timedelta) -> None:
        """Takes time out of a bank."""
        hand, _ = self._left.get(player_id, _NONE)
        self._left[player_id] = hand, max(timedelta(0), self.of_player(player_id, whole) - spent)

    def note_hand(self, player_id: str, hand: int, whole: timedelta) -> None:
        """Notes that what is left now is journalled with a hand."""
        self._left[player_id] = hand, self.of_player(player_id, whole)
