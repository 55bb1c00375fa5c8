"""How long bots take for what they do: about as long as people, and never as long as the turn clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

from services.poker.hand.state import Kind, Move

# The shortest, the most usual and the longest time: for a check or a fold, which is soon decided; for anything else.
EASY_S = (1.0, 1.2, 2.5)
HARD_S = (1.0, 2.4, 4.0)
# So much of the time to decide stays unused, whatever happens on the way.
MARGIN_S = 2.0
# Sitting down, or registering for a tournament, one bot after the other.
ARRIVING_S = (0.6, 1.8)

Sleep = Callable[[float], Awaitable[None]]


def thinking_s(move: Move, time_s: float, chance: Random) -> float:
    """Returns how long a decision takes a player who has so much time for it."""
    shortest_s, usual_s, longest_s = EASY_S if move.kind in {Kind.CHECK, Kind.FOLD} else HARD_S
    return max(0.0, min(chance.triangular(shortest_s, longest_s, usual_s), time_s - MARGIN_S))


class Pace:
    """Waits as long as people would; tests wait less."""

    def __init__(self, chance: Random, speed: float = 1.0, sleep: Sleep = asyncio.sleep) -> None:
        self._chance = chance
        self._speed = speed
        self._sleep = sleep

    async def think(self, move: Move, shown_in_s: float, time_s: float, *, hurried: bool) -> None:
        """Waits until the cards lie on the table, and then as long as the decision takes; less if nobody waits."""
        waited_s = shown_in_s + thinking_s(move, time_s, self._chance) / (HURRY if hurried else 1)
        await self._sleep(waited_s / self._speed)

    async def arrive(self) -> None:
        """Waits before the next bot comes or goes."""
        await self._sleep(self._chance.uniform(*ARRIVING_S) / self._speed)

    async def wait(self, seconds: float) -> None:
        """Waits between two looks."""
        await self._sleep(seconds / self._speed)


# How much faster bots play when no person is in the tournament any more.
HURRY = 4
