"""The bus of tests: how each kind of process comes there, and streams that are made anew."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlsplit

import nats.js.errors
from nats.aio.client import Client as Nats
from nats.js.api import StreamConfig

from services.kit.bus.connection import BusClient, BusEndpoint
from services.kit.bus.stream_keeper import StreamKeeper
from services.kit.bus.streams import PLATFORM_STREAMS

TIMEOUT_S = 240.0
CONNECT_TIMEOUT_S = 1
RECONNECT_DELAY_S = 0.05


async def connect_bus(url: str) -> Nats:
    """Connects as the platform does, for tests that follow what is stored; again soon after each outage."""
    client = BusClient()
    await client.connect(
        url,
        error_cb=_ignore,
        connect_timeout=CONNECT_TIMEOUT_S,
        max_reconnect_attempts=-1,
        reconnect_time_wait=RECONNECT_DELAY_S,  # type: ignore[arg-type]  # declared as whole seconds, and only slept
    )
    return client


def plain_url(operator_url: str) -> str:
    """The address of a bus without the operator's credentials."""
    parts = urlsplit(operator_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def password(operator_url: str) -> str:
    """The password of every user of a bus of tests."""
    return urlsplit(operator_url).password or ""


def endpoint(operator_url: str, user: str) -> BusEndpoint:
    """The bus, as one kind of process."""
    return BusEndpoint(plain_url(operator_url), user, password(operator_url))


def user_url(operator_url: str, user: str) -> str:
    """The address of the bus with the credentials of one kind of process."""
    return plain_url(operator_url).replace("://", f"://{user}:{password(operator_url)}@", 1)


def stream_config(name: str) -> StreamConfig:
    """How the platform creates a stream."""
    return next(config for config in PLATFORM_STREAMS if config.name == name)


async def recreate_stream(bus: Nats, name: str) -> None:
    """Makes a stream of the platform as it was before anything was published to it."""
    with suppress(nats.js.errors.NotFoundError):
        await bus.jetstream(timeout=TIMEOUT_S).delete_stream(name)
    await StreamKeeper(bus, [stream_config(name)]).create_missing()


async def _ignore(_: Exception) -> None:
    """The client would print it; outages are what is tested."""
