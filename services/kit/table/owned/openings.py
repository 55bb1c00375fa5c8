"""Opens tables side by side: each of them once, and only so many together (G11)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from services.kit import background
from services.kit.table import refusals

# Tables that are opened side by side.
OPENINGS_LIMIT = 32
# How long a call waits for the opening of its table, which goes on without it.
OPENING_TIMEOUT_S = 10.0

_Opened = TypeVar("_Opened")


class Openings(Generic[_Opened]):
    """The openings under way of one placement's tables."""

    def __init__(self, open_table: Callable[[str], Awaitable[_Opened]]) -> None:
        self._open_table = open_table
        self._turns = asyncio.Semaphore(OPENINGS_LIMIT)
        self._under_way: dict[str, asyncio.Task[_Opened]] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    async def open(self, table_id: str) -> _Opened:
        """Returns the table when it is open; every caller that asks for it meanwhile shares one opening.

        While the wallet is silent no call waits for ever: it is refused, and the opening goes on.
        """
        opening = self._under_way.get(table_id)
        if opening is None:
            opening = self._under_way[table_id] = asyncio.create_task(self._open_in_turn(table_id))
            opening.add_done_callback(lambda done: self._ended(table_id, done))
        try:
            async with asyncio.timeout(OPENING_TIMEOUT_S):
                return await background.shared_result(opening)
        except TimeoutError:
            raise refusals.unavailable("The table is just being opened") from None
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if not opening.cancelled() or (caller is not None and caller.cancelling()):
                raise
            raise refusals.unavailable("The table is just moving to another process") from None

    async def close(self) -> None:
        """Ends all openings under way."""
        await background.cancel_and_wait(self._under_way.values())

    async def _open_in_turn(self, table_id: str) -> _Opened:
        async with self._turns:
            return await self._open_table(table_id)

    def _ended(self, table_id: str, opening: asyncio.Task[_Opened]) -> None:
        del self._under_way[table_id]
        if not opening.cancelled():
            # Every caller may have stopped waiting: then nobody retrieves it.
            opening.exception()
