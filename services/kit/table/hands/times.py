"""The times that specific rules lay down for the players of hands, besides the time for a decision."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol


class HandTimes(Protocol):
    """The times of one table's players."""

    @property
    def lost_line_extra(self) -> timedelta:
        """More time for a player whose connection is lost, once in a hand (`806/2015:73`)."""

    @property
    def gateway_pause(self) -> timedelta:
        """How long a clock stands still when the platform's line to its player has failed (`806/2015:72`)."""

    @property
    def recovery_limit(self) -> timedelta:
        """For how long a hand that the platform has interrupted is waited for before it is void (`806/2015:72`)."""

    @property
    def longest_extra(self) -> timedelta:
        """The most that a decision may last beyond the time to decide: a full bank, and a lost line."""


def recovered_within(decision: timedelta, times: HandTimes) -> timedelta:
    """Returns for how long a hand may be interrupted, counted from when its last turn began.

    With the longest time that the player in turn had: the interruption begins after it.
    """
    return decision + times.longest_extra + times.recovery_limit
