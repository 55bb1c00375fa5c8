"""Servers for tests: real ones, with the roles and the JetStream that services need."""

from __future__ import annotations

import asyncpg
import nats

from stack.servers.postgres import EmbeddedPostgres


async def test_a_service_role_reaches_its_database_and_owns_nothing(postgres: EmbeddedPostgres) -> None:
    postgres.ensure_database("feltro_probe", "feltro_owner", "feltro_wallet")
    connection = await asyncpg.connect(postgres.url("feltro_wallet", "feltro_probe", scheme="postgresql"))
    try:
        assert await connection.fetchval("SELECT current_user") == "feltro_wallet"
        assert not await connection.fetchval("SELECT has_schema_privilege('public', 'CREATE')")
    finally:
        await connection.close()
        postgres.drop_database("feltro_probe")


async def test_nats_offers_jetstream(nats_url: str) -> None:
    client = await nats.connect(nats_url)
    try:
        account = await client.jetstream().account_info()
        assert account.limits.max_storage != 0
    finally:
        await client.close()
