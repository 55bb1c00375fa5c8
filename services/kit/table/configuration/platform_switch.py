"""The switch of all games at once (`903-B/2015:6.3.1`), which the wallet keeps and every process of a game polls.

Until the wallet has answered for the first time all games count as off (G12): a process that starts while they are
switched off opens nothing. Later the last answer holds while the wallet does not answer, because no bet is taken then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import cast

import grpc
from prometheus_client import Gauge

from feltro.wallet.v1 import platform_pb2, platform_pb2_grpc
from services.kit.bus.outages import Outage
from services.kit.rpc.relay_channel import RelayChannel

# How soon a process notices a change.
REFRESH_EVERY_S = 0.5
ANSWER_TIMEOUT_S = 5.0
STATE_UNKNOWN = "It is not known yet whether all games are switched off."

_OFF = Gauge("feltro_table_all_games_off", "1 while all games are switched off, as far as this process knows")
_log = logging.getLogger(__name__)


class PlatformSwitch:
    """The state of the switch, as far as this process knows."""

    def __init__(
        self, channel: grpc.aio.Channel | RelayChannel, metadata: Callable[[], tuple[tuple[str, str], ...]]
    ) -> None:
        # A stub needs no more of its channel than unary calls.
        as_channel = cast("grpc.aio.Channel", channel)
        self._platform: platform_pb2_grpc.PlatformServiceAsyncStub = platform_pb2_grpc.PlatformServiceStub(as_channel)
        self._metadata = metadata
        self._off_reason: str | None = STATE_UNKNOWN
        self._outage = Outage(_log, "the switch of all games")
        self.on_change: Callable[[], None] = lambda: None

    def off_reason(self) -> str | None:
        """Returns why all games are off; None if they are on."""
        return self._off_reason

    async def run(self) -> None:
        """Polls until it is cancelled."""
        while True:
            await self.refresh()
            await asyncio.sleep(REFRESH_EVERY_S)

    async def refresh(self) -> None:
        """Asks once; without an answer the last one stays."""
        try:
            request = platform_pb2.ListPlatformSwitchesRequest(page_size=1)
            answer = await self._platform.ListPlatformSwitches(
                request, metadata=self._metadata(), timeout=ANSWER_TIMEOUT_S
            )
        except (grpc.aio.AioRpcError, OSError) as failed:
            # OSError: the token's file may be missing while it is replaced.
            self._outage.failed(failed)
            return
        self._outage.recovered()
        off = next((switch.reason for switch in answer.switches if not switch.enabled), None)
        _OFF.set(off is not None)
        if off != self._off_reason:
            self._off_reason = off
            self.on_change()
