"""Simulated players who take turns: they wait for their own, or do random things."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from feltro.table.v1 import table_pb2
from tests.simulation.environment.players import Player, RestlessPlayer

OwnTurn = TypeVar("OwnTurn")


class TurnPlayer(Player, ABC, Generic[OwnTurn]):
    """A player at a table where players decide in turn."""

    @abstractmethod
    async def own_turn(self) -> OwnTurn | None:
        """Reads what the player may do now; None if that is nothing, or there is no answer."""

    async def wait_for_turn(self, timeout_s: float = 60.0) -> OwnTurn:
        """Waits until the player may decide."""
        until = self._world.loop.time() + timeout_s
        while self._world.loop.time() < until:
            turn = await self.own_turn()
            if turn is not None:
                return turn
            await asyncio.sleep(0.05)
        raise AssertionError(f"{self.player_id} is not asked for a decision")


class RestlessTurnPlayer(RestlessPlayer, ABC):
    """A player who does random things that depend on what the table shows."""

    MEAN_PAUSE_S = 0.7

    async def _do_something(self) -> None:
        table = await self.get_table()
        if table is not None:
            # Chosen after what else is drawn, so that the runs of a seed stay what they were.
            await self._begin(lambda: self._choose(table)())  # noqa: PLW0108 - not before

    @abstractmethod
    def _choose(self, table: table_pb2.GetTableResponse) -> Callable[[], Coroutine[Any, Any, object]]:
        """Returns what the player does next."""
