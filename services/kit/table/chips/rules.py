"""What a game that is played for chips adds to its rules: what seats bring to a hand, and their times. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, Protocol, cast

from services.kit.table.chips.seam import HandToPlay
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, Outcome, Rules


@dataclass(frozen=True, slots=True)
class ChipTimes:
    """The times of players, besides the time for a decision (810/2015:42). Implements `HandTimes`."""

    time_bank: timedelta
    """Of each player, for the whole tournament."""
    lost_line_extra: timedelta
    gateway_pause: timedelta
    recovery_limit: timedelta

    @property
    def longest_extra(self) -> timedelta:
        return self.time_bank + self.lost_line_extra


class BroughtToHand(NamedTuple):
    """What the journal has to know of a seat in a hand besides the game's part."""

    hand: int
    """The number that the hand has in the tournament."""
    time_bank: timedelta
    """What was left of the player's time bank when it was dealt."""


class ChipRules(Rules[Bets, Outcome], Protocol[Bets, Outcome]):
    """A game that is played for chips, under one version of the rules of a tournament.

    What a seat brings to a hand is its `Bets`. No money lies there: its amount in cents is 0, and so is what it pays.
    """

    @property
    def times(self) -> ChipTimes:
        """The times of the tournament's players."""

    def brought(self, hand: HandToPlay, time_banks: Mapping[int, timedelta]) -> Mapping[int, Bets]:
        """Returns what each seat brings to a hand, with the time bank of its player."""

    def read_brought(self, brought: Bets) -> BroughtToHand:
        """Returns what was journalled of a seat in a hand."""


def chip_rules(versioned: VersionedRules[Bets, Outcome]) -> ChipRules[Bets, Outcome]:
    """Returns the rules of a tournament as those that its tables play by."""
    return cast("ChipRules[Bets, Outcome]", versioned.rules)
