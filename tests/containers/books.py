"""What must hold after any fault: every round has ended once, the money agrees with it, and so does the audit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from tests.containers.platform import Platform
from tests.players.table import TablePlayers


async def assert_books_are_right(platform: Platform, players: Iterable[TablePlayers]) -> None:
    """Compares what the players did with what their games, the wallet and the audit say."""
    for each in players:
        await each.assert_rounds_ended_once()
    status, report = await asyncio.to_thread(platform.audit)
    assert status == 0, report
