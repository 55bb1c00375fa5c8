"""`PlatformService`: the switch of all games at once (`903-B/2015:6.3.1`).

A switch is a row that stays; the last one holds. So the rows are at once the state and the log of who switched what,
when and why.
"""

from collections.abc import Sequence

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import platform_pb2 as pb
from services.kit.access.identity import Caller
from services.kit.clock import Clock
from services.wallet.model import refusals
from services.wallet.server import fields as edge
from services.wallet.sessions.messages import timestamp
from services.wallet.store import answers

REASON_CHARACTERS_LIMIT = 500
# Any number will do, as long as it is this table's alone: the switch with the higher number is the later one.
_ONE_AT_A_TIME = 0x706C7377

_LOCK = text("SELECT pg_advisory_xact_lock(:key)")
_SET = text("""
INSERT INTO platform_switches (enabled, reason, set_by, set_at) VALUES (:enabled, :reason, :set_by, :set_at)
RETURNING switch_no, enabled, reason, set_by, set_at
""")
_LOG = text("""
SELECT switch_no, enabled, reason, set_by, set_at FROM platform_switches
WHERE CAST(:before_no AS bigint) IS NULL OR switch_no < :before_no ORDER BY switch_no DESC LIMIT :size
""")


class PlatformService:
    """What holds for every game."""

    descriptor = pb.DESCRIPTOR.services_by_name["PlatformService"]

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def set_platform_switch(self, request: pb.SetPlatformSwitchRequest, caller: Caller) -> bytes:
        """Logs a switch, once (G3). It is logged too if all games stood that way already."""
        edge.printable_id("request_id", request.request_id)
        if not request.reason.strip():
            raise refusals.invalid("reason", "has to say why.")
        edge.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        now = self._clock.now()

        async def admit(connection: AsyncConnection) -> None:
            await connection.execute(_LOCK, {"key": _ONE_AT_A_TIME})

        async def act(connection: AsyncConnection, _: None) -> pb.SetPlatformSwitchResponse:
            row = {"enabled": request.enabled, "reason": request.reason, "set_by": caller.subject, "set_at": now}
            return pb.SetPlatformSwitchResponse(switch=_message((await connection.execute(_SET, row)).one()))

        return await answers.answer_once(self._engine, request, caller, now, authorize=admit, execute=act)

    async def list_platform_switches(
        self, request: pb.ListPlatformSwitchesRequest, caller: Caller
    ) -> pb.ListPlatformSwitchesResponse:
        """Switches, newest first."""
        del caller
        size = edge.page_size(request.page_size)
        asked = {"before_no": edge.page_position(request.page_token), "size": size + 1}
        async with self._engine.connect() as connection:
            found = [_message(row) for row in await connection.execute(_LOG, asked)]
        return pb.ListPlatformSwitchesResponse(
            switches=found[:size],
            next_page_token=edge.page_token(found[size - 1].switch_no) if len(found) > size else "",
        )


def _message(row: Row[Sequence[object]]) -> pb.PlatformSwitch:
    return pb.PlatformSwitch(
        switch_no=row.switch_no,
        enabled=row.enabled,
        reason=row.reason,
        set_by=row.set_by,
        set_at=timestamp(row.set_at),
    )
