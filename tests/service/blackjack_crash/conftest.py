"""One platform for all crash tests of blackjack: a wallet and two replicas that are killed and started again.

When all have run, the ledger is audited, every round is replayed, and the events are compared with the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import asyncpg
import nats
import pytest

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes import ledger_audit
from tests.processes.blackjack import BlackjackClient, BlackjackProcess
from tests.processes.databases import OWNER_ROLE, connect_asyncpg
from tests.processes.databases import ROULETTE_ROLE as GAME_ROLE
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.wallet import WalletProcess
from tests.service.blackjack.platform import INDIVIDUAL, BlackjackDriver, BlackjackPlatform, table_rules
from tests.service.blackjack.replicas import TwoReplicas
from tests.service.blackjack_crash.commit_gates import JOURNAL_TABLES, LEDGER_TABLES, CommitGates
from tests.service.blackjack_crash.hands import CUT_CARD, TABLE, Database
from tests.service.one_game_platform import differences
from tests.service.roulette_crash import verification

WALLET_DATABASE, BLACKJACK_DATABASE = "feltro_wallet_blackjack_crash", "feltro_blackjack_crash"
_ENDED = (
    "SELECT rounds.round_id, endings.ending, COALESCE(endings.outcome, draws.outcome) AS outcome,"
    " endings.epoch > rounds.epoch AS taken_over"
    " FROM rounds LEFT JOIN endings USING (round_no) LEFT JOIN draws USING (round_no)"
)


@dataclass
class CrashProcesses:
    """The processes; each may be killed."""

    wallet: WalletProcess
    replicas: list[BlackjackProcess]
    bus_url: str
    owner: int = 0
    """The replica that had the tables when the last test ended."""


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
    postgres.ensure_database(WALLET_DATABASE, OWNER_ROLE, WALLET_USER, template=wallet_template)
    postgres.ensure_database(BLACKJACK_DATABASE, OWNER_ROLE, GAME_ROLE, template=game_template)
    CommitGates.install(postgres, BLACKJACK_DATABASE, JOURNAL_TABLES)
    CommitGates.install(postgres, WALLET_DATABASE, LEDGER_TABLES)
    with ephemeral.nats() as bus:
        wallet = WalletProcess(postgres.url(WALLET_USER, WALLET_DATABASE), bus.url, home)
        url = postgres.url(GAME_ROLE, BLACKJACK_DATABASE)
        replicas = [BlackjackProcess(url, bus.url, home, wallet_address=wallet.address) for _ in range(2)]
        processes = CrashProcesses(wallet, replicas, bus.url)
        try:
            asyncio.run(_start(processes))
            yield processes
            found = asyncio.run(_differences(processes))
            violations = asyncio.run(ledger_audit.violations_at(wallet.database_url))
        finally:
            for process in (*replicas, wallet):
                process.end()
    postgres.drop_database(BLACKJACK_DATABASE)
    postgres.drop_database(WALLET_DATABASE)
    assert not found
    assert not violations


async def _start(processes: CrashProcesses) -> None:
    """Starts all. There is one placement: replicas would give each other a share of more, in the middle of a test."""
    processes.wallet.start()
    await processes.wallet.ready()
    first, second = processes.replicas
    first.start()
    await first.ready()
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


async def _differences(processes: CrashProcesses) -> list[str]:
    """Replays all rounds (G10), and compares the numbers and outcomes of all events with the journal."""
    platform = BlackjackPlatform(processes.wallet, processes.replicas[processes.owner], processes.bus_url)
    found = await differences(platform.blackjack)
    journal = await connect_asyncpg(platform.blackjack.database_url)
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
    return found


@pytest.fixture
async def crash(processes: CrashProcesses, postgres: EmbeddedPostgres) -> AsyncIterator[Crash]:
    """Both replicas running, and a driver that speaks with the owner."""
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
            for database in (BLACKJACK_DATABASE, WALLET_DATABASE)
        ]
        journal_gates = await stack.enter_async_context(
            CommitGates.connected(postgres, BLACKJACK_DATABASE, JOURNAL_TABLES)
        )
        ledger_gates = await stack.enter_async_context(CommitGates.connected(postgres, WALLET_DATABASE, LEDGER_TABLES))
        driver = BlackjackDriver(wallet, clients[processes.owner], bus)
        two = TwoReplicas(driver, processes.replicas, clients)
        yield Crash(processes, two, journal, ledger, journal_gates, ledger_gates)
        await journal_gates.open_all()
        await ledger_gates.open_all()
        processes.owner = clients.index(driver.blackjack)
        await driver.clean_up()
