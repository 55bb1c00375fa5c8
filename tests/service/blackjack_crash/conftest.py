"""One platform for all crash tests of blackjack: a wallet and two replicas that are killed and started again.

When all have run, the ledger is audited, every round is replayed, and the events are compared with the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeAlias

import asyncpg
import nats
import pytest

from stack.servers.postgres import EmbeddedPostgres
from tests.processes.blackjack import BlackjackClient, BlackjackProcess
from tests.processes.databases import OWNER_ROLE, connect_asyncpg
from tests.service.blackjack.platform import INDIVIDUAL, BlackjackDriver, table_rules
from tests.service.blackjack.replicas import TwoReplicas
from tests.service.blackjack_crash.commit_gates import JOURNAL_TABLES, LEDGER_TABLES, CommitGates
from tests.service.blackjack_crash.hands import CUT_CARD, TABLE, Database
from tests.service.one_game_platform import PlatformDatabases, PlatformProcesses, audited_processes
from tests.service.roulette_crash import verification

CrashProcesses: TypeAlias = PlatformProcesses[BlackjackProcess]

_ENDED = (
    "SELECT rounds.round_id, endings.ending, COALESCE(endings.outcome, draws.outcome) AS outcome,"
    " endings.epoch > rounds.epoch AS taken_over"
    " FROM rounds LEFT JOIN endings USING (round_no) LEFT JOIN draws USING (round_no)"
)


@dataclass
class Crash:
    """What one test uses."""

    processes: CrashProcesses
    two: TwoReplicas
    journal: Database
    ledger: Database
    journal_gates: CommitGates
    ledger_gates: CommitGates

    @property
    def driver(self) -> BlackjackDriver:
        return self.two.driver


@pytest.fixture(scope="package")
def processes(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CrashProcesses]:
    home = tmp_path_factory.mktemp("blackjack-crash")
    with PlatformDatabases(postgres, wallet_template, game_template).made_for("blackjack_crash") as databases:
        CommitGates.install(postgres, databases.game, JOURNAL_TABLES)
        CommitGates.install(postgres, databases.wallet, LEDGER_TABLES)
        with audited_processes(BlackjackProcess, databases, home, replicas=2) as processes:
            asyncio.run(_open_table(processes))
            yield processes
            asyncio.run(_verify_events(processes))


async def _open_table(processes: CrashProcesses) -> None:
    """Starts all. There is one placement: replicas would give each other a share of more, in the middle of a test."""
    first, second = processes.replicas
    bus = await nats.connect(processes.bus_url)
    try:
        async with processes.wallet.client() as wallet, first.client() as client:
            driver = BlackjackDriver(wallet, client, bus)
            # Shoes go on from round to round, over every change of the owner.
            await driver.configure_table(TABLE, table_rules(play=INDIVIDUAL, places_per_player=7, cut_card=CUT_CARD))
    finally:
        await bus.close()
    second.start()
    await second.ready()


async def _verify_events(processes: CrashProcesses) -> None:
    """Compares the numbers and outcomes of all events with the journal."""
    journal = await connect_asyncpg(processes.replicas[processes.owner].database_url)
    try:
        ended = {
            row["round_id"]: verification.Ended(
                row["ending"] or 0, "" if row["outcome"] is None else row["outcome"].hex(), bool(row["taken_over"])
            )
            for row in await journal.fetch(_ENDED)
        }
    finally:
        await journal.close()
    verification.verify_stream(await verification.read_stream(processes.bus_url), ended)


@pytest.fixture
async def crash(processes: CrashProcesses, postgres: EmbeddedPostgres) -> AsyncIterator[Crash]:
    """Both replicas running, and a driver that speaks with the owner."""
    databases = processes.databases
    async with AsyncExitStack() as stack:
        for replica in processes.replicas:
            if replica.child is None or replica.child.ended:
                replica.kill()
                replica.start()
                await replica.ready()
        bus = await nats.connect(processes.bus_url)
        stack.push_async_callback(bus.close)
        wallet = await stack.enter_async_context(processes.wallet.client())
        clients: list[BlackjackClient] = [
            await stack.enter_async_context(replica.client()) for replica in processes.replicas
        ]
        journal, ledger = [
            await stack.enter_async_context(
                asyncpg.create_pool(postgres.url(OWNER_ROLE, database, "postgresql"), min_size=1, max_size=4)
            )
            for database in (databases.game, databases.wallet)
        ]
        journal_gates = await stack.enter_async_context(CommitGates.connected(postgres, databases.game, JOURNAL_TABLES))
        ledger_gates = await stack.enter_async_context(CommitGates.connected(postgres, databases.wallet, LEDGER_TABLES))
        driver = BlackjackDriver(wallet, clients[processes.owner], bus)
        two = TwoReplicas(driver, processes.replicas, clients)
        yield Crash(processes, two, journal, ledger, journal_gates, ledger_gates)
        await journal_gates.open_all()
        await ledger_gates.open_all()
        processes.owner = clients.index(driver.blackjack)
        await driver.clean_up()
