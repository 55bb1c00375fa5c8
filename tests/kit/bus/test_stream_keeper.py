"""The streams are created on as many servers of the bus as the wallet's settings say."""

from __future__ import annotations

from uuid import uuid4

import nats.js.errors
import pytest
from nats.js.api import StreamConfig

from services.kit.bus.connection import connect
from services.kit.bus.permissions import OPERATOR
from services.kit.bus.stream_keeper import StreamKeeper
from tests.processes.bus import endpoint


async def test_a_stream_is_asked_for_on_so_many_servers(nats_url: str) -> None:
    """One server alone says that it cannot keep anything three times: what was asked for has reached it."""
    bus = await connect(endpoint(nats_url, OPERATOR), "tests")
    try:
        stream = StreamConfig(name=f"KEPT_{uuid4().hex}", subjects=[f"kept.{uuid4().hex}"])
        with pytest.raises(nats.js.errors.APIError, match="replicas > 1 not supported in non-clustered mode"):
            await StreamKeeper(bus, [stream], replicas=3).create_missing()

        await StreamKeeper(bus, [stream]).create_missing()

        assert (await bus.jetstream().stream_info(str(stream.name))).config.num_replicas == 1
        await bus.jetstream().delete_stream(str(stream.name))
    finally:
        await bus.close()
