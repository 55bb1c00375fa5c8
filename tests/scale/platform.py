"""PostgreSQL, NATS, the wallet and two replicas of poker as processes, with the one that runs the tournament found."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import grpc

from feltro.poker.v1 import tournament_pb2
from services.kit import background
from services.kit.rpc.status import error_info, status_of
from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes import databases
from tests.processes.databases import OWNER_ROLE, POSTGRES_TEST_SETTINGS
from tests.processes.poker import PokerClient, PokerProcess
from tests.processes.wallet import WalletClient, WalletProcess

REPLICAS = 2
WALLET_DATABASE, POKER_DATABASE = "feltro_wallet", "feltro_poker"
# What takes longer hangs: a takeover with a thousand players, on a machine that does other work.
ANSWERED_WITHIN_S = 120.0
LOOKS_EVERY_S = 0.1
# How long tokens hold: longer than any run.
TOKEN_MINUTES = 24 * 60
# The tournament is just changing hands: the same call is sent again.
_PASSING = frozenset({"TABLE_ELSEWHERE", "UNAVAILABLE", "OVERLOADED"})

T = TypeVar("T")


@dataclass
class ScalePlatform:
    """The processes, and clients of them."""

    bus_url: str
    wallet: WalletProcess
    replicas: Sequence[PokerProcess]
    money: WalletClient
    clients: Sequence[PokerClient]


@asynccontextmanager
async def running(home: Path) -> AsyncIterator[ScalePlatform]:
    """Runs the platform in a folder, and ends it."""
    with ephemeral.postgres(POSTGRES_TEST_SETTINGS) as postgres, ephemeral.nats() as bus:
        wallet_url = _make_database(postgres, WALLET_DATABASE, databases.WALLET_TEMPLATE)
        poker_url = _make_database(postgres, POKER_DATABASE, databases.ROULETTE_TEMPLATE)
        wallet = WalletProcess(wallet_url, bus.url, home)
        replicas = [PokerProcess(poker_url, bus.url, home, wallet_address=wallet.address) for _ in range(REPLICAS)]
        try:
            for process in (wallet, *replicas):
                process.start()
            await asyncio.gather(*(process.ready() for process in (wallet, *replicas)))
            async with AsyncExitStack() as stack:
                money = await stack.enter_async_context(wallet.client())
                clients = [await stack.enter_async_context(replica.client()) for replica in replicas]
                yield ScalePlatform(bus.url, wallet, replicas, money, clients)
        finally:
            for process in (*replicas, wallet):
                process.end()


def _make_database(postgres: EmbeddedPostgres, name: str, template: databases.DatabaseTemplate) -> str:
    migrated = databases.ensure_template(postgres, template)
    postgres.ensure_database(name, OWNER_ROLE, template.role, template=migrated)
    return postgres.url(template.role, name)


class Owner:
    """The replica that runs the tournament: looked for once for all calls, whenever one finds it gone."""

    def __init__(self, platform: ScalePlatform, tournament_id: str) -> None:
        self._platform = platform
        self._request = tournament_pb2.GetTournamentRequest(tournament_id=tournament_id)
        self.index = 0
        self.found = asyncio.Event()
        self.found_at = 0.0
        self._looking: asyncio.Task[None] | None = None
        self.repeated = 0
        """Calls that were sent again."""

    @property
    def client(self) -> PokerClient:
        return self._platform.clients[self.index]

    @property
    def process(self) -> PokerProcess:
        return self._platform.replicas[self.index]

    async def call(self, ask: Callable[[PokerClient], Awaitable[T]]) -> T:
        """Sends a call to the owner until it is answered; a refusal that stays is raised."""
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            while True:
                await self.look()
                asked = self.client
                try:
                    return await ask(asked)
                except grpc.aio.AioRpcError as failed:
                    if not is_passing(failed):
                        raise
                self.repeated += 1
                if asked is self.client:
                    self.lose()
                await asyncio.sleep(LOOKS_EVERY_S)

    def lose(self) -> None:
        """Forgets who the owner is."""
        self.found.clear()

    async def look(self) -> None:
        """Returns when the owner is known."""
        if self.found.is_set():
            return
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        await background.shared_result(self._looking)

    async def _look(self) -> None:
        while True:
            for index, client in enumerate(self._platform.clients):
                try:
                    await client.tournaments.GetTournament(self._request, timeout=ANSWERED_WITHIN_S)
                except grpc.aio.AioRpcError as failed:
                    # A replica learns of a new tournament a little later.
                    if not is_passing(failed) and reason_of(failed) != "TOURNAMENT_UNKNOWN":
                        raise
                else:
                    self.index, self.found_at = index, time.monotonic()
                    self.found.set()
                    return
            await asyncio.sleep(LOOKS_EVERY_S)


def is_passing(failed: grpc.aio.AioRpcError) -> bool:
    """Whether a call failed for a reason that passes: its process is gone, or the tournament changes hands."""
    return failed.code() is grpc.StatusCode.UNAVAILABLE or reason_of(failed) in _PASSING


def reason_of(failed: grpc.aio.AioRpcError) -> str:
    """Returns the reason of a refusal; the code of what is none."""
    status = status_of(failed)
    info = None if status is None else error_info(status)
    return failed.code().name if info is None else info.reason
