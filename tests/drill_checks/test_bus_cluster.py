"""The drill's bus: three servers that reach each other through the proxies alone, so that a partition is one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from services.kit.bus.connection import BusEndpoint, connect
from tests.drill.fault_proxy import Network
from tests.drill.platform.bus_cluster import BUS, BusCluster
from tests.service.roulette_crash.processes import ServerProcess

WITHIN_S = 120.0
POLL_S = 0.05
SUBJECT = "feltro.drill"


@dataclass
class Running:
    """The servers, and a client at each that notes what reaches it."""

    cluster: BusCluster
    clients: list[Nats]
    received: list[list[bytes]]

    def be(self, link: str, network: Network) -> None:
        for proxy in self.cluster.between(*link.split("–")):
            proxy.be(network)

    async def reached(self, sender: int, word: str) -> set[int]:
        """Publishes once at a server; returns where that arrives before what each server says to its own client."""
        marks = [f"{word} {sender} {number}".encode() for number in range(len(self.clients))]
        await self.clients[sender].publish(SUBJECT, word.encode())
        await self.clients[sender].flush()
        for client, mark in zip(self.clients, marks, strict=True):
            await client.publish(SUBJECT, mark)
            await client.flush()
        await _until(lambda: all(mark in got for mark, got in zip(marks, self.received, strict=True)))
        return {number for number, got in enumerate(self.received) if word.encode() in got}

    async def until_reached(self, sender: int, wanted: set[int], word: str) -> None:
        """Publishes at a server until what it sends reaches these servers and no others."""
        attempt = 0
        async with asyncio.timeout(WITHIN_S):
            while await self.reached(sender, f"{word}-{attempt}") != wanted:
                attempt += 1
                await asyncio.sleep(POLL_S)


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    """Three servers with fine networks between them."""
    cluster = BusCluster(tmp_path)
    async with AsyncExitStack() as stack:
        for proxy in cluster.proxies:
            await proxy.start()
            stack.push_async_callback(proxy.stop)
        clients, received = [], []
        processes = [ServerProcess(server, tmp_path / f"{server.name}.log") for server in cluster.servers]
        for process in processes:
            stack.callback(process.kill)
            process.start()
        # None greets a client before it has found the others.
        await asyncio.gather(*(process.ready() for process in processes))
        for server in cluster.servers:
            client = await connect(BusEndpoint(server.url), "tests")
            stack.push_async_callback(client.close)
            got: list[bytes] = []
            await client.subscribe(SUBJECT, cb=_noting(got))
            await client.flush()
            clients.append(client)
            received.append(got)
        yield Running(cluster, clients, received)


async def test_a_server_that_is_alone_is_reached_by_its_clients_and_by_no_other_server(running: Running) -> None:
    everywhere = {0, 1, 2}
    await running.until_reached(0, everywhere, "whole")
    running.be(f"nats-1–{BUS}", Network.CUT)
    await running.until_reached(1, {1}, "alone")
    await running.until_reached(0, {0, 2}, "majority")
    running.be(f"nats-1–{BUS}", Network.FINE)
    await running.until_reached(1, everywhere, "again")


async def test_two_servers_that_do_not_reach_each_other_do_not_go_over_the_third(running: Running) -> None:
    await running.until_reached(2, {0, 1, 2}, "whole")
    running.be("nats-0–nats-2", Network.CUT)
    await running.until_reached(2, {1, 2}, "cut")
    await running.until_reached(1, {0, 1, 2}, "between")
    running.be("nats-0–nats-2", Network.FINE)
    await running.until_reached(2, {0, 1, 2}, "again")


def test_every_pair_of_servers_and_every_server_is_a_link(tmp_path: Path) -> None:
    cluster = BusCluster(tmp_path)
    pairs = {"nats-0–nats-1", "nats-0–nats-2", "nats-1–nats-2"}
    assert set(cluster.links) == pairs | {f"nats-{number}–{BUS}" for number in range(3)}
    # In both directions: either server of a pair may be the one that connects.
    counts = {link: len(list(cluster.between(*link.split("–")))) for link in cluster.links}
    assert all(count == (4 if link.endswith(f"–{BUS}") else 2) for link, count in counts.items())


def _noting(got: list[bytes]) -> Callable[[Msg], Awaitable[None]]:
    async def note(message: Msg) -> None:
        got.append(message.data)

    return note


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not is_so():
            await asyncio.sleep(POLL_S)
