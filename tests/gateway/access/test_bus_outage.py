"""While bus or wallet are away an open WebSocket's calls are refused exactly when REST would refuse them."""

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
from tests.gateway.live_gateway import GAME, UNLIMITED, FakeTables, LiveGateway, RpcClient
from tests.gateway.revocation_store import InMemoryRevocations
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.guarantee("G12")

METHOD = "TableService.ListTables"


@asynccontextmanager
async def player_client(
    url: str, home: Path, monotonic: FakeClock, wall: FakeClock, store: InMemoryRevocations
) -> AsyncIterator[RpcClient]:
    """Connects a player to a gateway that follows the bus; by `monotonic` its revocations become stale."""
    issuer = DevelopmentIssuer(home)
    issuer.prepare()
    async with bus_client(url) as bus:
        tables = FakeTables(EventStream(bus, GAME))
        tables.answers[METHOD] = table_pb2.ListTablesResponse()
        revocations, activity = Revocations(store, wall, clock=monotonic), Activity(bus, wall)
        async with running_tasks(revocations.run(), activity.run()):
            await wait_until(lambda: revocations.is_known and activity.bus_reachable)
            authenticator = Authenticator(
                TokenVerifier([TrustedIssuer(str(issuer.jwks))], AUDIENCE, wall), revocations, activity
            )
            gateway = LiveGateway(bus, tables, authenticator, UNLIMITED, ConnectionCounter(9, 9), TrustedProxies(()))
            await gateway.start()
            try:
                async with gateway.connect(issuer.token(["player"], "ana", minutes=600)) as client:
                    yield client
            finally:
                await gateway.close()


async def reason(client: RpcClient, method: str = METHOD, **params: object) -> str:
    """Returns the reason of a refused call, or nothing."""
    answer = await client.call(method, **params)
    return str(answer.get("error", {}).get("data", {}).get("reason", ""))


async def test_g12_stale_revocations_refuse_the_calls_of_an_open_socket(nats: StoppableNats, tmp_path: Path) -> None:
    monotonic, wall, store = FakeClock(), FakeClock(time.time()), InMemoryRevocations()
    async with player_client(nats.url, tmp_path, monotonic, wall, store) as client:
        assert await reason(client) == ""
        store.is_up = False
        # The last view of them counts for a while.
        assert await reason(client) == ""
        async with asyncio.timeout(WITHIN_S):
            # A read that is under way may still be answered.
            while await reason(client) == "":
                monotonic.seconds += STALE_VIEW_LIMIT_S + 60
        assert await reason(client) == "UNAVAILABLE"
        assert await reason(client, "subscribe", table_id="salon") == "UNAVAILABLE"
        assert await reason(client, "ping") == ""


@pytest.mark.rule("GLI-19 2.5.4")
async def test_a_player_idle_during_an_outage_has_to_log_in(nats: StoppableNats, tmp_path: Path) -> None:
    monotonic, wall = FakeClock(), FakeClock(time.time())
    async with player_client(nats.url, tmp_path, monotonic, wall, InMemoryRevocations()) as client:
        assert await reason(client) == ""
        nats.stop()
        wall.seconds += IDLE_LIMIT_S - 60
        assert await reason(client) == ""
        wall.seconds += IDLE_LIMIT_S
        # Activity at another gateway is not known; and a refused call is none.
        for _ in range(2):
            assert await reason(client) == "UNAVAILABLE"
        nats.start()
        async with asyncio.timeout(WITHIN_S):
            while (refusal := await reason(client)) == "UNAVAILABLE":
                await asyncio.sleep(0.05)
        assert refusal == "LOGIN_NEEDED"
