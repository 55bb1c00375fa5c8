"""The disk of the bus is full: money moves on, health checks and metrics show it, and later every fact is published."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import nats
import pytest
from prometheus_client import REGISTRY

from feltro.wallet.v1 import events_pb2
from services.kit.bus.subjects import FACTS_STREAM
from services.kit.rpc import publishing_watch
from services.kit.rpc.server import PUBLISHING_HEALTH
from services.wallet.outbox import publisher
from services.wallet.outbox.facts import player_subject
from tests.processes.databases import WalletDatabase
from tests.service.table.stoppable_nats import StoppableNats
from tests.service.wallet.server.starting_wallet import NOT_SERVING, SERVING, start_wallet

TIMEOUT_S = 240.0
OLDEST = "feltro_wallet_outbox_oldest_seconds"
FAILURES = "feltro_wallet_outbox_failures_total"


def sample(name: str) -> float:
    return REGISTRY.get_sample_value(name) or 0.0


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not await condition():
            await asyncio.sleep(0.02)


async def told_balances(url: str, player_id: str) -> list[int]:
    """The balances that a player was told, in order."""
    bus = await nats.connect(url)
    jetstream = bus.jetstream(timeout=TIMEOUT_S)
    state = (await jetstream.stream_info(FACTS_STREAM)).state
    # A write that has failed leaves a number without a message.
    numbers = range(max(state.first_seq, 1), state.last_seq + 1) if state.messages else ()
    messages = [await jetstream.get_msg(FACTS_STREAM, number) for number in numbers]
    await bus.close()
    told = [
        events_pb2.PlayerFact.FromString(message.data or b"")
        for message in messages
        if message.subject == player_subject(player_id)
    ]
    return [fact.balance_changed.balance.free_cents for fact in told if fact.HasField("balance_changed")]


@pytest.mark.guarantee("G5")
async def test_g5_a_full_disk_of_the_bus_is_noticed_and_loses_no_fact(
    wallet_database: WalletDatabase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(publishing_watch, "LATE_AFTER_S", 0.3)
    monkeypatch.setattr(publishing_watch, "CHECK_EVERY_S", 0.02)
    monkeypatch.setattr(publisher, "ACK_TIMEOUT_S", 0.3)
    monkeypatch.setattr(publisher, "LEADER_RETRY_S", 0.05)
    with StoppableNats() as bus:
        async with start_wallet(wallet_database.url, bus.url, tmp_path) as wallet:
            await wallet.wait_until_serving()
            await wallet.client.open_account("rui", 1_000)

            async def publishes() -> bool:
                return await wallet.health(PUBLISHING_HEALTH) == SERVING and sample(OLDEST) == 0.0

            async def first_is_told() -> bool:
                return await told_balances(bus.url, "rui") == [1_000]

            await until(first_is_told)
            await until(publishes)
            failures = sample(FAILURES)
            bus.fill_disk()
            # Money moves all the same.
            await wallet.client.open_account("rui", 2_000)

            async def is_late() -> bool:
                return bool(await wallet.health(PUBLISHING_HEALTH) == NOT_SERVING)

            await until(is_late)
            assert await wallet.health() == SERVING
            assert sample(OLDEST) > 0.3
            assert sample(FAILURES) > failures
            assert "has to be started again" in caplog.text
            # Room alone does not help: NATS never tries again.
            bus.free_disk()
            assert "write error" in await asyncio.to_thread(bus.server.problem)
            await wallet.client.open_account("rui", 4_000)
            bus.stop()
            bus.start()
            await until(publishes)
            assert await asyncio.to_thread(bus.server.problem) == ""
            assert await told_balances(bus.url, "rui") == [1_000, 3_000, 7_000]
            assert not wallet.running.done()
