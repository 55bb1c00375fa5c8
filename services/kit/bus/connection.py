"""The connection to NATS of every process: it notices a dead connection within seconds and reconnects for ever."""

from __future__ import annotations

import logging

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


async def connect(url: str, name: str, *, client: Nats | None = None) -> Nats:
    """Connects to the bus, and waits for it while it is away; `client` is one that exists before it is connected."""
    bus = client or Nats()
    await bus.connect(
        url,
        name=name,
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
