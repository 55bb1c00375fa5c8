"""A game service serves once its database has the schema; until then it is not ready, and says why."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, ROULETTE_ROLE, WalletDatabase, migrate
from tests.processes.roulette import RouletteProcess
from tests.processes.wallet import WalletProcess

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
DATABASE = "feltro_roulette_unready"


@pytest.mark.guarantee("G12")
async def test_a_game_serves_once_its_schema_exists(
    postgres: EmbeddedPostgres, wallet_database: WalletDatabase, nats_url: str, tmp_path: Path
) -> None:
    postgres.ensure_database(DATABASE, OWNER_ROLE, ROULETTE_ROLE)
    wallet = WalletProcess(wallet_database.url, nats_url, tmp_path)
    game = RouletteProcess(postgres.url(ROULETTE_ROLE, DATABASE), nats_url, tmp_path, wallet_address=wallet.address)
    try:
        wallet.start()
        game.start()
        async with grpc.aio.insecure_channel(game.address) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest()
            answer = await health.Check(request, wait_for_ready=True, timeout=60)
            assert answer.status == NOT_SERVING
            migration = await asyncio.to_thread(migrate, "roulette", postgres.url(OWNER_ROLE, DATABASE))
            assert migration.returncode == 0, migration.stderr
            async with asyncio.timeout(60):
                while answer.status != SERVING:
                    # The server that answers NOT_SERVING stops before the other starts: a call in between fails.
                    with suppress(grpc.aio.AioRpcError):
                        answer = await health.Check(request, wait_for_ready=True)
        assert "its database has no schema, and revision " in game.log.read_text()
        assert "Run `feltro migrate roulette`." in game.log.read_text()
    finally:
        game.kill()
        wallet.kill()
        postgres.drop_database(DATABASE)
