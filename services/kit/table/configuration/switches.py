"""The switches that decide whether a table, or the whole game, opens rounds (`903-B/2015:6.3.1`).

Switches never change; the last one of a table and the last one of the game hold. So the rows are both the state and the
log of who switched what, when, why, and from what (`903-B/2015:6.3.6.6`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.table.v1 import table_pb2, types_pb2
from services.kit.clock import Clock
from services.kit.command_digest import digest
from services.kit.paging import Page, PageRequest
from services.kit.table.configuration.stored_commands import find_stored, lock
from services.kit.table.refusals import TableRefused, invalid

REASON_CHARACTERS_LIMIT = 500
# Any number will do, as long as nothing else in this database locks it: switches are numbered without a gap.
LOCK_KEY = 0x73776974

_TABLE, _GAME = types_pb2.SWITCH_SCOPE_TABLE, types_pb2.SWITCH_SCOPE_GAME

_REQUESTED = text("""
SELECT switch_no, scope, table_id, enabled, reason, set_by, set_at, digest FROM switches WHERE request_id = :request_id
""")
_IS_TABLE = text("SELECT 1 FROM configurations WHERE table_id = :table_id LIMIT 1")
_INSERT = text("""
INSERT INTO switches (switch_no, scope, table_id, enabled, reason, set_by, set_at, request_id, digest)
SELECT COALESCE(max(switch_no), 0) + 1, :scope, :table_id, :enabled, :reason, :set_by, :set_at, :request_id, :digest
FROM switches
RETURNING switch_no, scope, table_id, enabled, reason, set_by, set_at
""")
_LOG = text("""
SELECT switch_no, scope, table_id, enabled, reason, set_by, set_at
FROM switches WHERE switch_no < :before ORDER BY switch_no DESC LIMIT :rows
""")
_STATE = text("""
SELECT scope, table_id, reason FROM (
    SELECT DISTINCT ON (scope, table_id) scope, table_id, enabled, reason
    FROM switches ORDER BY scope, table_id, switch_no DESC
) AS latest WHERE NOT enabled
""")


@dataclass(frozen=True, slots=True)
class SwitchState:
    """The reasons why the game or single tables are switched off; a table that neither concerns opens rounds."""

    game_off_reason: str | None
    """None if the game as a whole is on."""
    table_off_reasons: Mapping[str, str]
    """By table id, only of tables that are off."""

    def off_reason(self, table_id: str) -> str | None:
        """Returns why a table is off; None if it is on."""
        return self.table_off_reasons.get(table_id) if self.game_off_reason is None else self.game_off_reason


class Switches:
    """The switches of one game."""

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def set_switch(
        self,
        *,
        request_id: str,
        scope: types_pb2.SwitchScope.ValueType,
        table_id: str,
        enabled: bool,
        reason: str,
        set_by: str,
    ) -> types_pb2.Switch:
        """Logs a switch, once (G3), also if it changes nothing."""
        _verify(scope, table_id, reason)
        content: dict[str, Any] = {"scope": scope, "table_id": table_id, "enabled": enabled, "reason": reason}
        content_digest = digest(table_pb2.SetSwitchRequest(**content))
        async with self._engine.begin() as connection:
            await lock(connection, LOCK_KEY)
            stored = await find_stored(connection, _REQUESTED, request_id, content_digest)
            if stored is not None:
                return _message(stored)
            if scope == _TABLE and (await connection.execute(_IS_TABLE, {"table_id": table_id})).first() is None:
                raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=table_id)
            row = content | {
                "set_by": set_by,
                "set_at": self._clock.now(),
                "request_id": request_id,
                "digest": content_digest,
            }
            return _message((await connection.execute(_INSERT, row)).one())

    async def list_switches(self, page: PageRequest) -> Page[types_pb2.Switch]:
        """Returns every switch that was ever set, newest first."""
        async with self._engine.connect() as connection:
            rows = await connection.execute(_LOG, {"before": page.before, "rows": page.row_limit})
            return page.page([(row.switch_no, _message(row)) for row in rows])

    async def state(self) -> SwitchState:
        """Returns what is switched off now."""
        async with self._engine.connect() as connection:
            off = [(row.scope, row.table_id, row.reason) for row in await connection.execute(_STATE)]
        game = next((reason for scope, _, reason in off if scope == _GAME), None)
        return SwitchState(game, {table_id: reason for scope, table_id, reason in off if scope == _TABLE})


def _verify(scope: types_pb2.SwitchScope.ValueType, table_id: str, reason: str) -> None:
    if scope not in {_TABLE, _GAME}:
        raise invalid("scope", "has to be one table or the game.")
    if (scope == _TABLE) != bool(table_id):
        raise invalid("table_id", "has to be given for a switch of one table, and only for that.")
    if not reason.strip() or len(reason) > REASON_CHARACTERS_LIMIT:
        raise invalid("reason", f"has to be 1 to {REASON_CHARACTERS_LIMIT} characters.")


def _message(row: Row[Any]) -> types_pb2.Switch:
    message = types_pb2.Switch(
        switch_no=row.switch_no,
        scope=row.scope,
        table_id=row.table_id,
        enabled=row.enabled,
        reason=row.reason,
        set_by=row.set_by,
    )
    message.set_at.FromDatetime(row.set_at)
    return message
