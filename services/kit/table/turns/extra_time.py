"""What players have beside the time for a decision: a time bank, and consideration for lost connections.

The order is the rulebook's (A-22): the time to decide, then the time bank, then more time for a player whose line is
lost, once in a hand. Where the platform's own line has failed the clock stands still (A-28).
"""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from services.kit.bus.connections import Line

# How often the line of a player in turn is looked at: a gateway that has died says nothing.
LINE_CHECK_EVERY_S = 1.0


class HandVoid(Exception):
    """A dealt hand is void: the platform has failed, or an operator says that it has (`806/2015:72`)."""


class PlayerCutOff(HandVoid):
    """The platform's line to a player who owes a decision has failed for longer than the hand may wait."""


class ExtraTime(Protocol):
    """The extra time of the players of one table, by their seats."""

    @property
    def lost_line_extra(self) -> timedelta:
        """More time for a player whose line is lost, once in a hand."""

    @property
    def gateway_pause(self) -> timedelta:
        """How long a clock stands still for the platform's own failure."""

    def bank_of(self, seat: int) -> timedelta:
        """Returns what is left of a player's time bank (`806/2015:44`)."""

    def spend(self, seat: int, spent: timedelta) -> None:
        """Takes time out of a player's bank."""

    def line_of(self, seat: int) -> Line:
        """Returns what is known of a player's line."""
