"""The directory believes a lease under the key of the game that it names, and no other entry of the bus."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from nats.aio.client import Client as Nats

from feltro.table.v1 import table_pb2
from feltro.table.v1.placement_pb2 import Lease, Replica
from gateway.backends.directory import Directory, NoReplicaKnown
from gateway.backends.trusted_addresses import ServiceAddress
from gateway.contracts.methods import Contracts
from services.kit.bus.buckets import Bucket
from services.kit.bus.subjects import LEASES_BUCKET, REPLICAS_BUCKET
from tests.gateway.bus import bus_client, running_tasks, wait_until

pytestmark = pytest.mark.guarantee("G12")

GARBAGE = (b"\xff\xfe not a message", b"\x00", b"{}", b"\x08\x01")
GAMES = (("other_game", 1), ("changing_game", 2))
EVIL = "192.0.2.66:1"


@asynccontextmanager
async def running_directory(bus: Nats) -> AsyncIterator[Directory]:
    directory = Directory(bus, {})
    async with running_tasks(directory.run()):
        await wait_until(lambda: directory.is_current)
        yield directory


@pytest.fixture
def table_id() -> str:
    return f"t{uuid4().hex}"


def lease(table_id: str, game: str, address: str) -> bytes:
    return Lease(placement_id=table_id, game=game, replica_id="r", address=address, epoch=1).SerializeToString()


async def written(bus: Nats, directory: Directory, key: str, value: bytes) -> None:
    """Writes an entry of the leases, and returns when the directory has seen it."""
    await Bucket(bus, LEASES_BUCKET, lambda: None).put(key, value)
    await wait_until(lambda: key in directory._leases.entries and directory._leases.entries[key].value == value)


async def test_a_table_that_changes_hands_is_asked_for_at_its_own_game_alone(nats_url: str, table_id: str) -> None:
    """A process of another game would answer that there is no such table, and the player's client would leave it."""
    method = Contracts().by_rpc_name["TableService.GetTable"]
    request = table_pb2.GetTableRequest(table_id=f"{table_id}-0123456789abcdef")
    async with bus_client(nats_url) as bus, running_directory(bus) as directory:
        replicas = Bucket(bus, REPLICAS_BUCKET, lambda: None)
        other, own = (Replica(replica_id=table_id, game=game, address=f"127.0.0.1:{port}") for game, port in GAMES)
        await replicas.put(f"{other.game}.{table_id}", other.SerializeToString())
        await wait_until(lambda: other.address in {replica.address for replica in directory.replicas()})
        assert ServiceAddress(other.address, other.game) in directory.addresses(method, request)
        await written(bus, directory, f"{own.game}.{table_id}", lease(table_id, own.game, own.address))
        await written(bus, directory, f"{own.game}.{table_id}", b"")

        with pytest.raises(NoReplicaKnown):
            directory.addresses(method, request)

        await replicas.put(f"{own.game}.{table_id}", own.SerializeToString())
        await wait_until(lambda: own.address in {replica.address for replica in directory.replicas()})
        assert directory.addresses(method, request) == [ServiceAddress(own.address, own.game)]


async def test_g12_what_is_no_lease_counts_as_none_and_is_logged_with_its_key(
    nats_url: str, table_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with bus_client(nats_url) as bus, running_directory(bus) as directory:
        await written(bus, directory, f"roulette.{table_id}", lease(table_id, "roulette", "good:1"))
        for number, garbage in enumerate(GARBAGE):
            for key in (f"roulette.{table_id}x{number}", f"strange{number}{table_id}", f"a.b.c{number}{table_id}"):
                await written(bus, directory, key, garbage)
                assert key in {record.__dict__.get("key") for record in caplog.records}
            await Bucket(bus, REPLICAS_BUCKET, lambda: None).put(f"roulette.r{number}", garbage)
        owner = directory.owner(table_id)
        assert owner is not None
        assert owner.address == "good:1"
        await written(bus, directory, f"roulette.{table_id}", GARBAGE[0])
        assert directory.owner(table_id) is None
        assert directory.game_of(table_id) == "roulette"


@pytest.mark.parametrize("belonging", ["", "-0123456789abcdef", "-t12"], ids=["configured", "individual", "numbered"])
async def test_g12_no_game_takes_a_table_of_another(
    nats_url: str, table_id: str, belonging: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with bus_client(nats_url) as bus, running_directory(bus) as directory:
        await written(bus, directory, f"roulette.{table_id}", lease(table_id, "roulette", "good:1"))
        claimed = f"{table_id}{belonging}"
        for key, value in (
            (f"other_game.{claimed}", lease(claimed, "other_game", EVIL)),
            # Its own key, with the name of the other game; and a replica that says it is of the other game.
            (f"other_game.{claimed}x", lease(claimed, "roulette", EVIL)),
        ):
            await written(bus, directory, key, value)
            owner = directory.owner(claimed)
            assert owner is not None
            assert (owner.game, owner.address) == ("roulette", "good:1")
            assert directory.game_of(claimed) == "roulette"
        heartbeat = Replica(replica_id="evil", game="roulette", address=EVIL).SerializeToString()
        await Bucket(bus, REPLICAS_BUCKET, lambda: None).put("other_game.evil", heartbeat)
        await wait_until(lambda: "other_game.evil" in directory._replicas.entries)
        assert EVIL not in {replica.address for replica in directory.replicas()}
        assert any("not believed" in record.message or "counts as none" in record.message for record in caplog.records)


async def test_g12_a_gateway_that_finds_two_games_at_one_table_believes_neither(nats_url: str, table_id: str) -> None:
    async with bus_client(nats_url) as bus:
        for game in ("roulette", "other_game"):
            await Bucket(bus, LEASES_BUCKET, lambda: None).put(f"{game}.{table_id}", lease(table_id, game, EVIL))
        async with running_directory(bus) as directory:
            assert directory.owner(table_id) is None
            assert directory.game_of(table_id) is None


async def test_a_table_whose_game_is_away_is_asked_of_no_other_game(nats_url: str, table_id: str) -> None:
    """Others know nothing of it, and would say that there is no such table."""
    game = f"game_{table_id}"
    method = Contracts().by_rpc_name["TableService.EnterTable"]
    request = table_pb2.EnterTableRequest(table_id=table_id)
    async with bus_client(nats_url) as bus, running_directory(bus) as directory:
        await written(bus, directory, f"{game}.{table_id}", lease(table_id, game, "127.0.0.1:1"))
        assert [found.service for found in directory.addresses(method, request)] == [game]
        await written(bus, directory, f"{game}.{table_id}", b"")
        with pytest.raises(NoReplicaKnown):
            directory.addresses(method, request)
