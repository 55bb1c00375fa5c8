"""The connection to NATS of every process: it notices a dead connection within seconds and reconnects for ever."""

from __future__ import annotations

import asyncio
import logging
import ssl
from dataclasses import dataclass, field
from typing import Any

import nats.errors
from nats.aio.client import Client as Nats

# A connection on which this many pings stay unanswered is dead: a broken cable or a frozen server closes no socket.
PING_INTERVAL_S = 2
UNANSWERED_PINGS_LIMIT = 2
CONNECT_TIMEOUT_S = 2
RECONNECT_DELAY_S = 0.5
# Bytes that may wait to be sent (G11).
PENDING_BYTES_LIMIT = 8 * 1024 * 1024

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BusEndpoint:
    """Where the bus is, and as which user a process comes there."""

    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    """How to encrypt the connection; None sends everything, the password too, as it is."""

    @property
    def servers(self) -> list[str]:
        """The servers that the address names, which share one scheme."""
        scheme, separator, hosts = self.url.rstrip("/").partition("://")
        return [f"{scheme}{separator}{host}" for host in hosts.split(",")]


class NotEncrypted(nats.errors.Error):
    """The server does not offer TLS: it is sent no password."""


class BusClient(Nats):
    """A client that never falls back to a connection without TLS, and survives calls that fail or are given up."""

    async def _process_connect_init(self) -> None:
        try:
            await super()._process_connect_init()
        except BaseException:
            if self._transport is not None:
                self._transport.close()  # type: ignore[no-untyped-call]
            raise

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:  # noqa: FBT001, FBT002 - the client's own signature
        # The client encrypts only if the server asks for it, which a machine in between can prevent.
        if initial_connection and self.options.get("tls") is not None and not info.get("tls_required"):
            raise NotEncrypted("the server does not offer TLS, which FELTRO_NATS_URL asks for")
        await super()._process_info(info, initial_connection)

    async def _process_pong(self) -> None:
        # The answer to a flush that was given up: the client would fail to tell its caller, and never read again.
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()


async def connect(endpoint: BusEndpoint, name: str, *, client: BusClient | None = None) -> Nats:
    """Connects to the bus, and waits for it while it is away; `client` is one that exists before it is connected."""
    bus = client or BusClient()
    await bus.connect(
        endpoint.servers,
        name=name,
        user=endpoint.user or None,
        password=endpoint.password or None,
        tls=endpoint.tls,
        error_cb=_log_error,
        allow_reconnect=True,
        max_reconnect_attempts=-1,
        reconnect_time_wait=RECONNECT_DELAY_S,  # type: ignore[arg-type]  # declared as whole seconds, and only slept
        connect_timeout=CONNECT_TIMEOUT_S,
        ping_interval=PING_INTERVAL_S,
        max_outstanding_pings=UNANSWERED_PINGS_LIMIT,
        pending_size=PENDING_BYTES_LIMIT,
    )
    return bus


def require_connection(bus: Nats) -> None:
    """Raises `ConnectionReconnectingError` while there is no connection.

    The client would keep what it is given, and send it after it has connected again: too late, and perhaps twice.
    """
    if not bus.is_connected:
        raise nats.errors.ConnectionReconnectingError


async def _log_error(error: Exception) -> None:
    _log.warning("the connection to NATS has a problem", extra={"error": f"{type(error).__name__}: {error}"[:300]})
