"""The log of the switch of all games at once (`903-B/2015:6.3.1`): a switch is a row that stays, the last one holds.

So the rows are at once the state and the log of who switched what, when and why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

# Any number that no other lock of this database has: under the lock, the switch with the higher number is the later.
_LOCK_KEY = 0x706C7377

_LOCK = text("SELECT pg_advisory_xact_lock(:key)")
_INSERT = text("""
INSERT INTO platform_switches (enabled, reason, set_by, set_at) VALUES (:enabled, :reason, :set_by, :set_at)
RETURNING switch_no, enabled, reason, set_by, set_at
""")
_PAGE = text("""
SELECT switch_no, enabled, reason, set_by, set_at FROM platform_switches
WHERE CAST(:before_no AS bigint) IS NULL OR switch_no < :before_no ORDER BY switch_no DESC LIMIT :size
""")


@dataclass(frozen=True, slots=True)
class PlatformSwitch:
    """One switch: all games on or off, by whom, when and why."""

    no: int
    enabled: bool
    reason: str
    set_by: str
    set_at: datetime


async def lock(connection: AsyncConnection) -> None:
    """Keeps others from switching until the transaction ends."""
    await connection.execute(_LOCK, {"key": _LOCK_KEY})


async def insert(
    connection: AsyncConnection, *, enabled: bool, reason: str, set_by: str, set_at: datetime
) -> PlatformSwitch:
    """Adds a switch to the log, under the lock."""
    row = {"enabled": enabled, "reason": reason, "set_by": set_by, "set_at": set_at}
    return _switch((await connection.execute(_INSERT, row)).one())


async def page(connection: AsyncConnection, *, before_no: int | None, size: int) -> list[PlatformSwitch]:
    """Lists switches, newest first."""
    return [_switch(row) for row in await connection.execute(_PAGE, {"before_no": before_no, "size": size})]


def _switch(row: Row[Sequence[object]]) -> PlatformSwitch:
    return PlatformSwitch(row.switch_no, row.enabled, row.reason, row.set_by, row.set_at)
