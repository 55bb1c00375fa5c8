"""A player at a table between hands: the cave, whether the player is there, and what waits for the hand to end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Presence(StrEnum):
    """Whether a seated player wants to be dealt in."""

    PLAYING = "playing"
    # Sits out, on request or after hands that only the clock decided.
    AWAY = "away"
    # Sits out for a while that the operator grants (68).
    RESTING = "resting"


@dataclass(frozen=True, slots=True)
class Seated:
    """A seat with a player. Never changed once made."""

    seat: int
    cave_cents: int
    presence: Presence = Presence.PLAYING
    # Whether the seat was dealt into the hand before; others are newcomers.
    is_established: bool = False
    # Whether a newcomer posts a big blind to enter before it is due.
    posts: bool = False
    # A *reposição* that waits for the hand to end (11.b, A-24).
    top_up_cents: int = 0
    # Whether the player leaves as soon as the hand is over (10, A-18).
    is_leaving: bool = False
    # Hands in a row of which the clock made every decision.
    timeout_hands: int = 0
    # Whether the player has come back since the last hand ended.
    came_back: bool = False
    resting_until_ms: int = 0
    # When the rests of the last hour began.
    rests_ms: tuple[int, ...] = ()
    # What is left of the time bank, and hands since it was refilled (44).
    time_bank_ms: int = 0
    hands_since_refill: int = 0
