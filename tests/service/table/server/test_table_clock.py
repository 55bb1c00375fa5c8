"""The clock of a game's tables: in development an operator moves it for all replicas, in production nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import grpc
import pytest
from nats.aio.client import Client as Nats

from feltro.table.v1 import types_pb2
from services.kit import background
from services.kit.bus.buckets import Bucket
from services.kit.bus.subjects import TABLE_CLOCKS_BUCKET
from services.kit.settings import WrongSettings, load
from services.kit.table.configuration.platform_switch import STATE_UNKNOWN
from services.kit.table.refusals import TableRefused
from services.kit.table.server import table_clock
from services.kit.table.server.settings import TableClockKind
from services.kit.table.server.table_clock import AHEAD_LIMIT, TableClock
from services.roulette.settings import RouletteSettings
from tests.processes.bus import connect_bus
from tests.processes.databases import GameDatabase, WalletDatabase
from tests.processes.roulette import RouletteClient, RouletteProcess, configuration
from tests.processes.wallet import WalletProcess, refusal_facts
from tests.service.table.stoppable_nats import StoppableNats

T0 = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
SETTING = "FELTRO_ROULETTE_TABLE_CLOCK"
WINDOW_S = 600
TIMEOUT_S = 240.0


class FixedClock:
    """The machine's clock, which stands still."""

    def now(self) -> datetime:
        return T0


@pytest.fixture
def game() -> str:
    """A game of this test alone: the bus is shared."""
    return f"game_{uuid4().hex}"


async def loaded_clock(bus: Nats, game: str, kind: TableClockKind) -> TableClock:
    """The clock of one replica, which has read how far ahead it is."""
    clock = TableClock(FixedClock(), bus, game, kind, SETTING)
    async with asyncio.timeout(TIMEOUT_S):
        await clock.load(asyncio.Event())
    return clock


@asynccontextmanager
async def replica_clock(
    bus: Nats, game: str, kind: TableClockKind = TableClockKind.ADVANCEABLE
) -> AsyncIterator[TableClock]:
    """The clock of one replica, loaded and following the others."""
    clock = await loaded_clock(bus, game, kind)
    following = [asyncio.create_task(work) for work in clock.coroutines()]
    yield clock
    await background.cancel_and_wait(following)


async def wait_until_shown(clock: TableClock, moment: datetime) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while clock.now() != moment:
            await asyncio.sleep(0.01)


async def test_all_replicas_follow_a_clock_that_one_of_them_moves(bus: Nats, game: str) -> None:
    async with replica_clock(bus, game) as one, replica_clock(bus, game) as other:
        changed = asyncio.Event()
        other.on_change = changed.set
        assert one.now() == T0
        assert await one.advance(timedelta(minutes=10)) == one.now() == T0 + timedelta(minutes=10)
        await wait_until_shown(other, one.now())
        assert changed.is_set()
        # Each call counts from where the clock is, whichever replica answers it.
        await other.advance(timedelta(microseconds=1))
        await wait_until_shown(one, T0 + timedelta(minutes=10, microseconds=1))


async def test_calls_at_the_same_time_all_count(bus: Nats, game: str) -> None:
    async with replica_clock(bus, game) as one, replica_clock(bus, game) as other:
        await asyncio.gather(*(clock.advance(timedelta(seconds=1)) for clock in (one, other, one, other)))
        for clock in (one, other):
            await wait_until_shown(clock, T0 + timedelta(seconds=4))


async def test_a_replica_that_starts_later_begins_with_the_time_of_the_others(bus: Nats, game: str) -> None:
    async with replica_clock(bus, game) as first:
        await first.advance(timedelta(hours=1))
    later = await loaded_clock(bus, game, TableClockKind.ADVANCEABLE)
    assert later.now() == T0 + timedelta(hours=1)


async def test_a_replica_that_starts_without_a_bus_waits_for_the_time_of_the_others(
    own_nats: StoppableNats, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_clock, "RETRY_DELAY_S", 0.01)
    bus = await connect_bus(own_nats.url)
    async with replica_clock(bus, game) as first:
        await first.advance(timedelta(hours=1))
    own_nats.stop()
    later = TableClock(FixedClock(), bus, game, TableClockKind.ADVANCEABLE, SETTING)
    loading = asyncio.create_task(later.load(asyncio.Event()))
    async with asyncio.timeout(TIMEOUT_S):
        while bus.is_connected:
            await asyncio.sleep(0.01)
    assert not loading.done()
    own_nats.start()
    async with asyncio.timeout(TIMEOUT_S):
        await loading
    assert later.now() == T0 + timedelta(hours=1)
    # A process that is to stop waits for nothing.
    stopped = asyncio.Event()
    stopped.set()
    own_nats.stop()
    async with asyncio.timeout(TIMEOUT_S):
        await TableClock(FixedClock(), bus, game, TableClockKind.ADVANCEABLE, SETTING).load(stopped)
    await bus.close()


async def test_the_clocks_of_two_games_are_two(bus: Nats, game: str) -> None:
    async with replica_clock(bus, game) as one, replica_clock(bus, f"{game}_other") as other:
        await one.advance(timedelta(hours=1))
        assert await other.advance(timedelta(seconds=1)) == T0 + timedelta(seconds=1)


async def test_dates_have_an_end_and_so_has_the_clock(bus: Nats, game: str) -> None:
    async with replica_clock(bus, game) as clock:
        await clock.advance(AHEAD_LIMIT)
        with pytest.raises(TableRefused) as refused:
            await clock.advance(timedelta(microseconds=1))
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "by_ms"})
        assert clock.now() == T0 + AHEAD_LIMIT


@pytest.mark.parametrize("value", [b"soon", b"\xff\xfe", b"-1", b"9" * 400, b"9" * 5_000, b"1.5", b"\x00"])
async def test_what_is_no_time_in_the_bucket_moves_nothing_and_stops_nobody(
    bus: Nats, game: str, value: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    bucket = Bucket(bus, TABLE_CLOCKS_BUCKET, lambda: None)
    async with replica_clock(bus, game) as one:
        await one.advance(timedelta(hours=1))
        await bucket.put(game, value)
        async with replica_clock(bus, game) as later:
            assert later.now() == T0
            # A later move counts from what is known, and replaces what cannot be read.
            assert await one.advance(timedelta(hours=1)) == T0 + timedelta(hours=2)
            await wait_until_shown(later, T0 + timedelta(hours=2))
    assert game in {record.__dict__.get("key") for record in caplog.records}


async def test_without_the_bus_the_clock_stays_and_the_call_may_be_sent_again(own_nats: StoppableNats) -> None:
    bus = await connect_bus(own_nats.url)
    try:
        async with replica_clock(bus, "roulette") as clock:
            await clock.advance(timedelta(seconds=1))
            own_nats.stop(forget=True)
            with pytest.raises(TableRefused) as refused:
                await clock.advance(timedelta(seconds=1))
            assert refused.value.reason == "UNAVAILABLE"
            # What the bus has forgotten holds all the same: no clock of a table goes back.
            own_nats.start()
            async with asyncio.timeout(TIMEOUT_S):
                while True:
                    try:
                        await clock.advance(timedelta(seconds=1))
                        break
                    except TableRefused:
                        await asyncio.sleep(0.05)
            assert clock.now() >= T0 + timedelta(seconds=2)
    finally:
        await bus.close()


@pytest.mark.guarantee("G12")
async def test_g12_a_real_clock_is_not_moved_and_ignores_what_development_left(bus: Nats, game: str) -> None:
    async with replica_clock(bus, game) as development:
        await development.advance(timedelta(days=1))
    async with replica_clock(bus, game, TableClockKind.REAL) as production:
        assert production.now() == T0
        with pytest.raises(TableRefused) as refused:
            await production.advance(timedelta(seconds=1))
        assert (refused.value.reason, refused.value.facts) == ("NOT_OFFERED", {"setting": SETTING})
        assert production.now() == T0


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("environment", ["", "production"])
def test_g12_production_does_not_start_with_a_table_clock_that_can_be_moved(
    environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment that does not say that it is development is production."""
    for variable in ("FELTRO_ISSUER_JWKS", "FELTRO_ROULETTE_TOKEN_FILE", "FELTRO_ROULETTE_TABLE_KEY_FILE"):
        monkeypatch.setenv(variable, __file__)
    monkeypatch.setenv("FELTRO_NATS_URL", "tls://127.0.0.1:4222")
    monkeypatch.setenv("FELTRO_ROULETTE_NATS_PASSWORD", "a-password")
    monkeypatch.setenv("FELTRO_ROULETTE_DATABASE_URL", "postgresql+asyncpg://feltro@127.0.0.1/feltro")
    monkeypatch.setenv("FELTRO_ENVIRONMENT", environment)
    monkeypatch.setenv("FELTRO_GRPC_TLS", "off")
    assert load(RouletteSettings).table_clock is TableClockKind.REAL
    monkeypatch.setenv(SETTING, "advanceable")
    with pytest.raises(WrongSettings) as wrong:
        load(RouletteSettings)
    sentence = f"{SETTING} has to be `real` where FELTRO_ENVIRONMENT is `production`"
    assert str(wrong.value).startswith(sentence)
    monkeypatch.setenv("FELTRO_ENVIRONMENT", "development")
    assert load(RouletteSettings).table_clock is TableClockKind.ADVANCEABLE


async def test_a_betting_window_closes_when_the_clock_is_moved_past_it_at_another_replica(
    wallet_database: WalletDatabase, game_database: GameDatabase, own_nats: StoppableNats, tmp_path: Path
) -> None:
    wallet = WalletProcess(wallet_database.url, own_nats.url, tmp_path)
    replicas = [
        RouletteProcess(game_database.url, own_nats.url, tmp_path, wallet_address=wallet.address) for _ in range(2)
    ]
    try:
        for process in (wallet, *replicas):
            process.start()
        for process in (wallet, *replicas):
            await process.ready()
        async with AsyncExitStack() as connections:
            clients = [await connections.enter_async_context(replica.client()) for replica in replicas]
            async with wallet.client() as accounts:
                await accounts.open_account("ana")
            await clients[0].configure("table", configuration(window_ms=WINDOW_S * 1000))
            owner, entered = await _enter(clients)
            other = next(client for client in clients if client is not owner)
            first = (await _round_of(owner, entered)).round
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await other.advance_tables(0)
            assert refusal_facts(refused.value) == ("INVALID", {"field": "by_ms"})
            await other.advance_tables(WINDOW_S / 2)
            assert (await _round_of(owner, entered)).round == first
            await other.advance_tables(WINDOW_S / 2)
            async with asyncio.timeout(TIMEOUT_S):
                while (after := (await _round_of(owner, entered)).round).round_id == first.round_id:
                    await asyncio.sleep(0.02)
            assert after.closes_at.ToDatetime() >= first.closes_at.ToDatetime() + timedelta(seconds=WINDOW_S)
    finally:
        for process in (*replicas, wallet):
            process.kill()


async def _enter(clients: list[RouletteClient]) -> tuple[RouletteClient, str]:
    """The replica that runs the table, and the id of the table."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            for client in clients:
                try:
                    return client, (await client.enter("ana", "table")).table.table_id
                except grpc.aio.AioRpcError as refused:
                    # The replicas take a new table within a second, and have just asked the wallet for its switch.
                    reason, facts = refusal_facts(refused)
                    if reason not in {"TABLE_UNKNOWN", "TABLE_ELSEWHERE"} and facts.get("why") != STATE_UNKNOWN:
                        raise
            await asyncio.sleep(0.02)


async def _round_of(client: RouletteClient, table_id: str) -> types_pb2.TableSnapshot:
    """The table, with a round."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            table = (await client.table("ana", table_id)).table
            if table.HasField("round"):
                return table
            await asyncio.sleep(0.02)
