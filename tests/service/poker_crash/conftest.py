"""One platform for all crash tests of poker: a wallet and two replicas that are killed and started again.

When all have run, the ledger is audited and every hand is replayed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TypeAlias

import grpc
import nats
import pytest

from stack.servers.postgres import EmbeddedPostgres
from tests.processes.poker import PokerClient, PokerProcess
from tests.service.blackjack_crash.commit_gates import JOURNAL_TABLES, LEDGER_TABLES, CommitGates
from tests.service.game_driver import TIMEOUT_S
from tests.service.one_game_platform import PlatformDatabases, PlatformProcesses, audited_processes
from tests.service.poker.platform import PokerDriver, table_rules
from tests.service.refusals import refusal_of

# There is one placement: replicas would give each other a share of more, in the middle of a test.
TABLE = "crash"


CrashProcesses: TypeAlias = PlatformProcesses[PokerProcess]


@dataclass
class Crash:
    """What one test uses."""

    processes: CrashProcesses
    driver: PokerDriver
    clients: Sequence[PokerClient]
    journal_gates: CommitGates
    ledger_gates: CommitGates
    # Seen while the test played: the hands that it has replayed are those of the journal.
    kills: list[str] = field(default_factory=list)

    @property
    def owner(self) -> PokerProcess:
        return self.processes.replicas[self.clients.index(self.driver.poker)]

    async def kill_owner(self) -> None:
        """Kills the owner as `kill -9` does."""
        await asyncio.to_thread(self.owner.kill)
        self.kills.append("owner")

    async def take_over(self) -> None:
        """Waits until the other replica owns the table, speaks with it, and starts the killed one again."""
        dead = self.owner
        self.driver.poker = next(client for client in self.clients if client is not self.driver.poker)
        await self.wait_until_owned()
        dead.start()
        await dead.ready()

    async def restart_wallet(self) -> None:
        """Kills the wallet and starts it again."""
        wallet = self.processes.wallet
        await asyncio.to_thread(wallet.kill)
        self.kills.append("wallet")
        wallet.start()
        await wallet.ready()

    async def wait_until_owned(self) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                try:
                    await self.driver.table(TABLE)
                except grpc.aio.AioRpcError as refused:
                    if refusal_of(refused).reason not in {"TABLE_ELSEWHERE", "UNAVAILABLE"}:
                        raise
                    await asyncio.sleep(0.05)
                else:
                    return


@pytest.fixture(scope="package")
def processes(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CrashProcesses]:
    home = tmp_path_factory.mktemp("poker-crash")
    with PlatformDatabases(postgres, wallet_template, game_template).made_for("poker_crash") as databases:
        CommitGates.install(postgres, databases.game, JOURNAL_TABLES)
        CommitGates.install(postgres, databases.wallet, LEDGER_TABLES)
        with audited_processes(PokerProcess, databases, home, replicas=2) as processes:
            asyncio.run(_open_table(processes))
            yield processes


async def _open_table(processes: CrashProcesses) -> None:
    first, second = processes.replicas
    bus = await nats.connect(processes.bus_url)
    try:
        async with processes.wallet.client() as wallet, first.client() as client:
            # One hand follows the other at once.
            await PokerDriver(wallet, client, bus).configure_table(TABLE, table_rules(result_shown_ms=0))
    finally:
        await bus.close()
    second.start()
    await second.ready()


@pytest.fixture
async def crash(processes: CrashProcesses, postgres: EmbeddedPostgres) -> AsyncIterator[Crash]:
    """Both replicas running, an empty table, and a driver that speaks with its owner."""
    databases = processes.databases
    async with AsyncExitStack() as stack:
        bus = await nats.connect(processes.bus_url)
        stack.push_async_callback(bus.close)
        wallet = await stack.enter_async_context(processes.wallet.client())
        clients = [await stack.enter_async_context(replica.client()) for replica in processes.replicas]
        journal_gates = await stack.enter_async_context(CommitGates.connected(postgres, databases.game, JOURNAL_TABLES))
        ledger_gates = await stack.enter_async_context(CommitGates.connected(postgres, databases.wallet, LEDGER_TABLES))
        driver = PokerDriver(wallet, clients[processes.owner], bus)
        crash = Crash(processes, driver, clients, journal_gates, ledger_gates)
        yield crash
        await journal_gates.open_all()
        await ledger_gates.open_all()
        await driver.clean_up()
        processes.owner = clients.index(driver.poker)
        # The next test has the table for itself.
        await driver.wait_for(TABLE, lambda table: not table.seated)
