"""Leases that somebody else wrote to the bus: no token goes to their addresses, and callers learn what is wrong."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TypeAlias

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.relay.v1 import relay_pb2
from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import placement_pb2, table_pb2
from gateway.access.principals import Principal
from gateway.backends import dispatcher
from gateway.backends.directory import Directory
from gateway.backends.dispatcher import CallContext, Dispatcher
from gateway.backends.trusted_addresses import LOOPBACK_NETWORKS, ServiceAddress, TrustedAddresses
from gateway.backends.upstream import Upstream
from gateway.contracts.methods import Contracts
from services.kit.access.identity import Caller
from services.kit.bus import buckets
from services.kit.refusal import Refused
from services.kit.rpc.relay_handler import RELAY_SERVICE
from services.kit.rpc.status import code_of
from services.kit.rpc.transport import PLAINTEXT, Transport
from tests.gateway.bus import WITHIN_S, bus_client, running_tasks, wait_until
from tests.processes.certificates import CertificateAuthority

CONTRACTS = Contracts()
MARIA = Principal("token of maria", Caller("maria", frozenset({"operator"}), 0.0))
GET_TABLE = CONTRACTS.by_rpc_name["TableService.GetTable"]
PLACE_BETS = CONTRACTS.by_rpc_name["RouletteService.PlaceBets"]
NOT_TRUSTED = "does not trust"
NOT_PROVED = "did not prove"
# Quoted: only its type stubs know that it takes parameters.
RelayMethodHandler: TypeAlias = "grpc.RpcMethodHandler[relay_pb2.RelayRequest, relay_pb2.RelayResponse]"
Networks = tuple[IPv4Network | IPv6Network, ...]
# Any network that holds no address of this machine.
ELSEWHERE = (ip_network("192.0.2.0/24"),)


@dataclass
class Listener:
    """A process that answers every relayed call, and keeps the tokens that it is shown."""

    address: str = ""
    tokens: list[str] = field(default_factory=list)

    async def relay(
        self, requests: AsyncIterator[relay_pb2.RelayRequest], _: object
    ) -> AsyncIterator[relay_pb2.RelayResponse]:
        async for message in requests:
            self.tokens += [call.token for call in message.calls]
            answers = [relay_pb2.Answer(call_id=call.call_id, response=b"") for call in message.calls]
            yield relay_pb2.RelayResponse(answers=answers)


@asynccontextmanager
async def listening(transport: Transport = PLAINTEXT) -> AsyncIterator[Listener]:
    listener, server = Listener(), grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    handler: RelayMethodHandler = grpc.stream_stream_rpc_method_handler(
        listener.relay, relay_pb2.RelayRequest.FromString, lambda message: message.SerializeToString()
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(RELAY_SERVICE, {"Relay": handler}),))
    listener.address = f"127.0.0.1:{transport.listen(server, '127.0.0.1:0')}"
    await server.start()
    yield listener
    await server.stop(None)


@dataclass
class Calling:
    """A gateway's calls, on a bus that anybody writes to."""

    directory: Directory
    dispatcher: Dispatcher

    async def forge(self, address: str, table_id: str, game: str = "roulette") -> None:
        """Writes a lease under the key of the game, as a stolen user of that game could, and waits until it is seen."""
        lease = placement_pb2.Lease(placement_id=table_id, game=game, replica_id="evil", address=address, epoch=1)
        await self.directory._leases.write(f"{game}.{table_id}", lease.SerializeToString(), 0)
        await wait_until(lambda: self.directory.owner(table_id) is not None)

    async def get_table(self, table_id: str) -> Message:
        request = table_pb2.GetTableRequest(table_id=table_id)
        answer = await self.dispatcher.dispatch(GET_TABLE, request, CallContext(MARIA))
        return table_pb2.GetTableResponse.FromString(answer)

    async def refusal(self, table_id: str) -> str:
        """The sentence that the caller gets."""
        with pytest.raises(Refused) as refused:
            await asyncio.wait_for(self.get_table(table_id), WITHIN_S)
        assert code_of(refused.value) is grpc.StatusCode.UNAVAILABLE
        return refused.value.sentence


@asynccontextmanager
async def gateway(
    url: str, transport: Transport = PLAINTEXT, trusted: TrustedAddresses | None = None
) -> AsyncIterator[Calling]:
    async with bus_client(url) as bus:
        directory, upstream = Directory(bus, {}, trusted), Upstream(transport)
        async with running_tasks(directory.run()):
            await wait_until(lambda: directory.is_current)
            yield Calling(directory, Dispatcher(directory, upstream))
        await upstream.close()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bus answers, however long a busy machine takes; a call that cannot be made is tried once."""
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
    monkeypatch.setattr(dispatcher, "RETRY_FOR_S", 0.0)


@pytest_asyncio.fixture
async def attacker() -> AsyncIterator[Listener]:
    async with listening() as listener:
        yield listener


@pytest.mark.guarantee("G12")
async def test_g12_in_plain_text_no_token_leaves_the_permitted_networks(
    nats_url: str, attacker: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    async with gateway(nats_url, trusted=TrustedAddresses(ELSEWHERE)) as calling:
        await calling.forge(attacker.address, "forged-outside")
        with caplog.at_level(logging.ERROR):
            assert NOT_TRUSTED in await calling.refusal("forged-outside")
        await calling.forge(attacker.address, "forged-outside-again")
        assert NOT_TRUSTED in await calling.refusal("forged-outside-again")
    assert attacker.tokens == []
    logged = [record.__dict__["address"] for record in caplog.records if "not trusted" in record.message]
    # Once; other tests' leases are on the bus too.
    assert logged.count(attacker.address) == 1


@pytest.mark.guarantee("G12")
async def test_g12_a_forged_heartbeat_gets_no_token_either(nats_url: str, attacker: Listener) -> None:
    async with gateway(nats_url, trusted=TrustedAddresses(ELSEWHERE)) as calling:
        replica = placement_pb2.Replica(replica_id="evil", game="forged-game", address=attacker.address)
        await calling.directory._replicas.write("forged-game.evil", replica.SerializeToString(), 0)
        await wait_until(lambda: "forged-game" in calling.directory.games())
        method = CONTRACTS.by_rpc_name["TableService.ListTables"]
        request = table_pb2.ListTablesRequest(game="forged-game")
        with pytest.raises(Refused, match=NOT_TRUSTED):
            await calling.dispatcher.dispatch(method, request, CallContext(MARIA))
    assert attacker.tokens == []


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("networks", [LOOPBACK_NETWORKS, None], ids=["inside of the networks", "no networks"])
async def test_g12_over_tls_no_token_goes_to_a_process_that_is_not_that_game(
    nats_url: str, tmp_path: Path, attacker: Listener, networks: Networks | None
) -> None:
    platform, other = CertificateAuthority(tmp_path / "platform"), CertificateAuthority(tmp_path / "other")
    trusted = TrustedAddresses(networks)
    async with (
        gateway(nats_url, platform.transport("gateway"), trusted) as calling,
        listening(other.transport("roulette")) as stranger,
        listening(platform.transport("poker")) as other_game,
        listening(platform.transport("roulette")) as roulette,
    ):
        for listener in (attacker, stranger, other_game):
            table_id = f"forged-{listener.address.rpartition(':')[2]}"
            await calling.forge(listener.address, table_id)
            assert NOT_PROVED in await calling.refusal(table_id)
            assert listener.tokens == []
        table_id = f"lawful-{roulette.address.rpartition(':')[2]}"
        await calling.forge(roulette.address, table_id)
        await calling.get_table(table_id)
        assert roulette.tokens == [MARIA.token]


@pytest.mark.guarantee("G12")
async def test_g12_a_call_of_one_game_goes_to_no_process_of_another(nats_url: str, tmp_path: Path) -> None:
    """The lease says that it is a table of poker: poker's certificate is no proof for a bet of roulette."""
    platform = CertificateAuthority(tmp_path / "platform")
    async with (
        gateway(nats_url, platform.transport("gateway"), TrustedAddresses(None)) as calling,
        listening(platform.transport("poker")) as other_game,
    ):
        await calling.forge(other_game.address, "forged-game-of-table", game="poker")
        request = roulette_pb2.PlaceBetsRequest(table_id="forged-game-of-table")
        with pytest.raises(Refused) as refused:
            await calling.dispatcher.dispatch(PLACE_BETS, request, CallContext(MARIA))
        # A process of roulette would say that it has no such table, and there is none.
        assert refused.value.reason in {"GAME_UNKNOWN", "UNAVAILABLE"}
    assert other_game.tokens == []


async def test_in_plain_text_a_process_in_a_permitted_network_is_called(nats_url: str, attacker: Listener) -> None:
    """Nothing but its address vouches for it: production has to switch TLS off by name, and to name the networks."""
    async with gateway(nats_url) as calling:
        await calling.forge(attacker.address, "permitted")
        await calling.get_table("permitted")
    assert attacker.tokens == [MARIA.token]


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1:80",
        "0.0.0.0:80",
        "169.254.169.254:80",
        "[::]:80",
        "[::ffff:10.0.0.1]:80",
        "[fe80::1%lo]:80",
        "attacker.example:80",
        "localhost:80",
        f"{socket.gethostname()}:80",
        "2130706433:80",
        "127.1:80",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:80,10.0.0.1:80",
        "ipv4:127.0.0.1:80",
        "ipv4:127.0.0.1:80,10.0.0.1:80",
        "dns:///127.0.0.1:80",
        "unix:/tmp/socket",
        "unix-abstract:evil:80",
        "xds:///evil:80",
        "user@127.0.0.1:80",
        "127.0.0.1:80\n",
        " 127.0.0.1:80",
        "१२७.0.0.1:80",
        "",
    ],
)
def test_an_address_outside_of_the_networks_is_not_trusted_however_it_is_written(address: str) -> None:
    assert not TrustedAddresses(LOOPBACK_NETWORKS).includes(ServiceAddress(address, "roulette"))


@pytest.mark.parametrize("address", ["127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "[::ffff:127.0.0.1]:80"])
def test_an_address_in_the_networks_is_trusted(address: str) -> None:
    assert TrustedAddresses(LOOPBACK_NETWORKS).includes(ServiceAddress(address, "roulette"))


@pytest.mark.parametrize("address", ["attacker.example:80", "10.0.0.1:80", "[2001:db8::1]:80"])
def test_over_tls_any_host_may_be_called(address: str) -> None:
    assert TrustedAddresses(None).includes(ServiceAddress(address, "roulette"))


@pytest.mark.parametrize(
    ("address", "service"),
    [
        ("unix:/tmp/socket", "roulette"),
        ("dns://192.0.2.1/evil:80", "roulette"),
        ("ipv4:10.0.0.1:80", "roulette"),
        ("10.0.0.1:80", ""),
        ("10.0.0.1:80", "evil.example"),
        ("10.0.0.1:80", "Roulette"),
    ],
)
def test_over_tls_an_address_is_a_host_and_a_port_of_a_named_game(address: str, service: str) -> None:
    assert not TrustedAddresses(None).includes(ServiceAddress(address, service))
