"""`PlatformService`: switches all games on and off at once (`903-B/2015:6.3.1`)."""

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import platform_pb2 as pb
from services.kit.access.identity import Caller
from services.kit.clock import Clock
from services.kit.wire_format import timestamp
from services.wallet.audit import platform_switches
from services.wallet.audit.platform_switches import PlatformSwitch
from services.wallet.model import refusals
from services.wallet.server import fields
from services.wallet.server.idempotency import answer_once

REASON_CHARACTERS_LIMIT = 500


class PlatformService:
    """Sets and lists the switches of the platform."""

    descriptor = pb.DESCRIPTOR.services_by_name["PlatformService"]

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def set_platform_switch(self, request: pb.SetPlatformSwitchRequest, caller: Caller) -> bytes:
        """Logs a switch, once (G3), also one that changes nothing."""
        fields.printable_id("request_id", request.request_id)
        fields.verify_given("enabled", request)
        if not request.reason.strip():
            raise refusals.invalid("reason", "has to say why.")
        fields.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        now = self._clock.now()

        async def authorize(connection: AsyncConnection) -> None:
            await platform_switches.lock(connection)

        async def execute(connection: AsyncConnection, _: None) -> pb.SetPlatformSwitchResponse:
            switch = await platform_switches.insert(
                connection, enabled=request.enabled, reason=request.reason, set_by=caller.subject, set_at=now
            )
            return pb.SetPlatformSwitchResponse(switch=_message(switch))

        return await answer_once(self._engine, request, caller, now, authorize=authorize, execute=execute)

    async def list_platform_switches(
        self, request: pb.ListPlatformSwitchesRequest, caller: Caller
    ) -> pb.ListPlatformSwitchesResponse:
        """Lists switches, newest first."""
        del caller
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            found = await platform_switches.page(connection, before_no=wanted.position, size=wanted.row_limit)
        page = wanted.page([(switch.no, _message(switch)) for switch in found])
        return pb.ListPlatformSwitchesResponse(switches=page.items, next_page_token=page.next_page_token)


def _message(switch: PlatformSwitch) -> pb.PlatformSwitch:
    return pb.PlatformSwitch(
        switch_no=switch.no,
        enabled=switch.enabled,
        reason=switch.reason,
        set_by=switch.set_by,
        set_at=timestamp(switch.set_at),
    )
