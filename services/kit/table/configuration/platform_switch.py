"""The switch of all games at once (`903-B/2015:6.3.1`), as a process of a game knows it: the wallet keeps it.

Until the wallet has said for the first time how it stands, it counts as off (G12): a process that comes up while all
games are switched off opens nothing. After that the last word holds while the wallet is silent, for without it no bet
is taken.
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

# How soon a process hears of it.
REFRESH_EVERY_S = 0.5
ANSWER_TIMEOUT_S = 5.0
STATE_UNKNOWN = "It is not known yet whether all games are switched off."

_OFF = Gauge("feltro_table_all_games_off", "1 while all games are switched off, as far as this process knows")
_log = logging.getLogger(__name__)


class PlatformSwitch:
    """Asked for ever."""

    def __init__(
        self, channel: grpc.aio.Channel | RelayChannel, metadata: Callable[[], tuple[tuple[str, str], ...]]
    ) -> None:
        # All that a stub asks of its channel is to make unary calls.
        as_channel = cast("grpc.aio.Channel", channel)
        self._platform: platform_pb2_grpc.PlatformServiceAsyncStub = platform_pb2_grpc.PlatformServiceStub(as_channel)
        self._metadata = metadata
        self._why_off: str | None = STATE_UNKNOWN
        self._outage = Outage(_log, "the switch of all games")
        self.on_change: Callable[[], None] = lambda: None

    def off_reason(self) -> str | None:
        """None if all games are on."""
        return self._why_off

    async def run(self) -> None:
        """Asks for ever."""
        while True:
            await self.refresh()
            await asyncio.sleep(REFRESH_EVERY_S)

    async def refresh(self) -> None:
        """How does it stand? Where there is no answer, what is known stays."""
        try:
            request = platform_pb2.ListPlatformSwitchesRequest(page_size=1)
            answer = await self._platform.ListPlatformSwitches(
                request, metadata=self._metadata(), timeout=ANSWER_TIMEOUT_S
            )
        except (grpc.aio.AioRpcError, OSError) as failed:
            # The file of the token may be just being written.
            self._outage.failed(failed)
            return
        self._outage.recovered()
        off = next((switch.reason for switch in answer.switches if not switch.enabled), None)
        _OFF.set(off is not None)
        if off != self._why_off:
            self._why_off = off
            self.on_change()
