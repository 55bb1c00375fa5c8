"""What is not known shuts an open WebSocket's calls out as it shuts the door: no call goes on where REST refuses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from feltro.table.v1 import table_pb2
from gateway.access.activity import IDLE_LIMIT_S, Activity
from gateway.access.authenticator import Authenticator
from gateway.access.proxies import TrustedProxies
from gateway.access.revocations import STALE_VIEW_LIMIT_S, Revocations
from gateway.http.connection_limiter import ConnectionCounter
from services.kit.access.identity import TokenVerifier, TrustedIssuer
from services.kit.table.events.publisher import EventStream
from stack.issuer import AUDIENCE, DevelopmentIssuer
from tests.gateway.bus import WITHIN_S, FakeClock, bus_client, running_tasks, wait_until
from tests.gateway.live_gateway import UNLIMITED, FakeTables, LiveGateway, RpcClient
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.guarantee("G12")

METHOD = "TableService.ListTables"


@asynccontextmanager
async def ana(url: str, home: Path, passed: FakeClock, wall: FakeClock) -> AsyncIterator[RpcClient]:
    """Her connection to a gateway that knows what the bus says; `passed` is what revocations are out of sight by."""
    issuer = DevelopmentIssuer(home)
    issuer.prepare()
    async with bus_client(url) as bus:
        owner = EventStream(bus)
        await owner.ensure_stream()
        tables = FakeTables(owner)
        tables.answers[METHOD] = table_pb2.ListTablesResponse()
        taken_back, used = Revocations(bus, wall, clock=passed), Activity(bus, wall)
        async with running_tasks(taken_back.run(), used.run()):
            await wait_until(lambda: taken_back._last_current_at is not None and used.bus_reachable)
            visitors = Authenticator(TokenVerifier([TrustedIssuer(str(issuer.jwks))], AUDIENCE, wall), taken_back, used)
            edge = LiveGateway(bus, tables, visitors, UNLIMITED, ConnectionCounter(9, 9), TrustedProxies(()))
            await edge.start()
            try:
                async with edge.connect(issuer.token(["player"], "ana", minutes=600)) as client:
                    yield client
            finally:
                await edge.close()


async def reason(client: RpcClient, method: str = METHOD, **params: object) -> str:
    """Why a call is refused, if it is."""
    answer = await client.call(method, **params)
    return str(answer.get("error", {}).get("data", {}).get("reason", ""))


async def test_g12_revocations_out_of_sight_shut_an_open_socket_out(nats: StoppableNats, tmp_path: Path) -> None:
    passed, wall = FakeClock(), FakeClock(time.time())
    async with ana(nats.url, tmp_path, passed, wall) as client:
        assert await reason(client) == ""
        nats.stop()
        # What was known holds for a while.
        assert await reason(client) == ""
        async with asyncio.timeout(WITHIN_S):
            # That the bus is gone is not noticed at once, and what is in view is known.
            while await reason(client) == "":
                passed.seconds += STALE_VIEW_LIMIT_S + 60
        assert await reason(client) == "UNAVAILABLE"
        assert await reason(client, "subscribe", table_id="salon") == "UNAVAILABLE"
        assert await reason(client, "ping") == ""


@pytest.mark.rule("GLI-19 2.5.4")
async def test_one_who_slept_while_the_bus_was_away_is_not_woken_by_his_next_call(
    nats: StoppableNats, tmp_path: Path
) -> None:
    passed, wall = FakeClock(), FakeClock(time.time())
    async with ana(nats.url, tmp_path, passed, wall) as client:
        assert await reason(client) == ""
        nats.stop()
        wall.seconds += IDLE_LIMIT_S - 60
        assert await reason(client) == ""
        wall.seconds += IDLE_LIMIT_S
        # He may have been busy elsewhere, and may not have been; to ask is no activity.
        for _ in range(2):
            assert await reason(client) == "UNAVAILABLE"
        nats.start()
        async with asyncio.timeout(WITHIN_S):
            while (why := await reason(client)) == "UNAVAILABLE":
                await asyncio.sleep(0.05)
        assert why == "LOGIN_NEEDED"
