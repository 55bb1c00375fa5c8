"""What is not known shuts an open WebSocket's calls out as it shuts the door: no call goes on where REST refuses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from feltro.table.v1 import table_pb2
from gateway.activity import IDLE_LIMIT_S, Activity
from gateway.connections import Connections
from gateway.proxies import TrustedProxies
from gateway.revocations import BLIND_FOR_S, Revocations
from gateway.visitors import Visitors
from services.kit.identity import Source, TokenVerifier
from services.kit.table.table_bus import TableBus
from stack.issuer import AUDIENCE, DevelopmentIssuer
from tests.gateway.bus import WITHIN_S, Clock, connected, running, until
from tests.gateway.sockets import GENEROUS, Client, LiveEdge, Tables
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.guarantee("G12")

METHOD = "TableService.ListTables"


@pytest.fixture
def nats() -> Iterator[StoppableNats]:
    with StoppableNats() as server:
        yield server


@asynccontextmanager
async def ana(url: str, home: Path, passed: Clock, wall: Clock) -> AsyncIterator[Client]:
    """Her connection to a gateway that knows what the bus says; `passed` is what revocations are out of sight by."""
    issuer = DevelopmentIssuer(home)
    issuer.prepare()
    async with connected(url) as bus:
        owner = TableBus(bus)
        await owner.ensure_stream()
        tables = Tables(owner)
        tables.answers[METHOD] = table_pb2.ListTablesResponse()
        taken_back, used = Revocations(bus, wall, clock=passed), Activity(bus, wall)
        async with running(taken_back.run(), used.run()):
            await until(lambda: taken_back._in_view_at is not None and used.reachable)
            visitors = Visitors(TokenVerifier([Source(str(issuer.jwks))], AUDIENCE, wall), taken_back, used)
            edge = LiveEdge(bus, tables, visitors, GENEROUS, Connections(9, 9), TrustedProxies(()))
            await edge.start()
            try:
                async with edge.connect(issuer.token(["player"], "ana", minutes=600)) as client:
                    yield client
            finally:
                await edge.close()


async def reason(client: Client, method: str = METHOD, **params: object) -> str:
    """Why a call is refused, if it is."""
    answer = await client.call(method, **params)
    return str(answer.get("error", {}).get("data", {}).get("reason", ""))


async def test_g12_revocations_out_of_sight_shut_an_open_socket_out(nats: StoppableNats, tmp_path: Path) -> None:
    passed, wall = Clock(), Clock(time.time())
    async with ana(nats.url, tmp_path, passed, wall) as client:
        assert await reason(client) == ""
        nats.stop()
        # What was known holds for a while.
        assert await reason(client) == ""
        async with asyncio.timeout(WITHIN_S):
            # That the bus is gone is not noticed at once, and what is in view is known.
            while await reason(client) == "":
                passed.seconds += BLIND_FOR_S + 60
        assert await reason(client) == "UNAVAILABLE"
        assert await reason(client, "subscribe", table_id="salon") == "UNAVAILABLE"
        assert await reason(client, "ping") == ""


@pytest.mark.rule("GLI-19 2.5.4")
async def test_one_who_slept_while_the_bus_was_away_is_not_woken_by_his_next_call(
    nats: StoppableNats, tmp_path: Path
) -> None:
    passed, wall = Clock(), Clock(time.time())
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
