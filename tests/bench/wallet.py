"""`make bench-wallet`: durable stakes per second beside pgbench on the same PostgreSQL with its durable defaults.

Prints lines `ratio <name> <value>` at the end. The load generator shares the machine with what it measures.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import uvloop
from grpc_health.v1 import health_pb2

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.round_limits import STAKES_LIMIT
from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.bench import ledger_history
from tests.processes.databases import connect_asyncpg
from tests.processes.wallet import Seat, WalletClient, WalletProcess

DATABASE, OWNER, USER = "feltro_wallet", "feltro_owner", "feltro_wallet"
PGBENCH_CLIENTS = 16
UNARY_CALLERS = 64
TABLES, PLAYERS_PER_TABLE = 8, 250
# Sessions start one by one: on a busy machine, more at once would wait until they time out.
CONCURRENT_SEATINGS = 25
# As a game service sends them: the stakes of one moment together, while those of the next are on their way.
ORDERS_PER_CALL, CALLS_PER_TABLE = 250, 2
SMALL_LEDGER, LARGE_LEDGER = 10_000, 5_000_000


@dataclass
class Measured:
    """The result of one phase."""

    name: str
    seconds: float = 0.0
    count: int = 0
    latencies_s: list[float] = field(default_factory=list)
    cpu_s: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return self.count / self.seconds

    def percentile_ms(self, share: float) -> float:
        ordered = sorted(self.latencies_s)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e3

    def report(self) -> None:
        p50, p99 = self.percentile_ms(0.5), self.percentile_ms(0.99)
        print(f"  {self.name:<58}{self.rate:>9.0f}/s   p50 {p50:7.2f} ms   p99 {p99:7.2f} ms", flush=True)
        each = ", ".join(f"{who} {seconds / self.count * 1e6:.0f}" for who, seconds in self.cpu_s.items() if self.count)
        if each:
            print(f"      CPU µs each: {each}", flush=True)


def cpu_seconds() -> dict[str, float]:
    """The CPU time so far of each process that this bench has started."""
    used: dict[str, float] = {}
    for who, seconds in cpu_of_processes().values():
        used[who] = used.get(who, 0.0) + seconds
    return used


def cpu_of_processes() -> dict[int, tuple[str, float]]:
    """The CPU time so far of this process and of those that it has started, by their ids, each with what it is.

    What their own children have used that have ended counts for them: PostgreSQL ends processes while it is measured,
    and left out they would be subtracted from what the others have used.
    """
    own = psutil.Process()
    used = {own.pid: ("load generator", sum(own.cpu_times()[:2]))}
    for child in own.children(recursive=True):
        try:
            name, times, command = child.name(), child.cpu_times(), child.cmdline()
        except psutil.NoSuchProcess:
            continue
        who = {"postgres": "PostgreSQL", "nats-server": "NATS"}.get(name) or _module(command)
        used[child.pid] = who, sum(times[:4])
    return used


def _module(command: list[str]) -> str:
    """`wallet` of `python -m services.wallet`; the process that guards a child counts for the load generator."""
    name = command[2].rpartition(".")[2] if command[1:2] == ["-m"] and len(command) > 2 else "load generator"
    return "load generator" if name == "child" else name


async def measure(name: str, callers: int, seconds: float, act: Callable[[int, int], Awaitable[int]]) -> Measured:
    """Calls `act(caller, turn)` from many callers for a while; `act` returns how many stakes it placed."""
    measured = Measured(name)
    used = cpu_seconds()
    end = time.perf_counter() + seconds

    async def caller(number: int) -> None:
        turn = 0
        while (started := time.perf_counter()) < end:
            made = await act(number, turn)
            measured.count += made
            measured.latencies_s.append(time.perf_counter() - started)
            turn += 1

    started = time.perf_counter()
    await asyncio.gather(*(caller(number) for number in range(callers)))
    measured.seconds = time.perf_counter() - started
    measured.cpu_s = {who: seconds - used.get(who, 0.0) for who, seconds in cpu_seconds().items()}
    measured.report()
    return measured


def pgbench(postgres: EmbeddedPostgres, seconds: int) -> Measured:
    """Measures TPC-B-like transactions, prepared, of 16 clients."""
    postgres.ensure_database("pgbench", OWNER, USER)
    address = ["-h", "127.0.0.1", "-p", str(postgres.port), "-U", OWNER, "pgbench"]
    environment = {**os.environ, "PGPASSWORD": postgres.passwords[OWNER]}
    binary = str(postgres.binaries / "pgbench")

    def run(folder: str, *options: str) -> str:
        return subprocess.run(
            [binary, *options, *address], cwd=folder, env=environment, check=True, capture_output=True, text=True
        ).stdout

    with tempfile.TemporaryDirectory() as folder:
        run(folder, "-i", "-q", "-s", str(PGBENCH_CLIENTS))
        output = run(folder, "-M", "prepared", "-c", str(PGBENCH_CLIENTS), "-j", "2", "-T", str(seconds), "--log")
        # A line for each transaction, a file for each thread; the third word is the duration.
        logged = [line.split() for log in Path(folder).iterdir() for line in log.read_text().splitlines()]
    found = re.search(r"tps = ([0-9.]+)", output)
    if found is None or not logged:
        raise RuntimeError(f"pgbench did not say how fast it was:\n{output}")
    # Otherwise its dead rows would be vacuumed while the wallet is measured.
    postgres.drop_database("pgbench")
    latencies = [int(words[2]) / 1e6 for words in logged]
    # By its own clock, which does not count connecting.
    took = len(latencies) / float(found.group(1))
    measured = Measured("(a) pgbench TPC-B-like, prepared, 16 clients", took, len(latencies), latencies)
    measured.report()
    return measured


async def plain_commits(url: str, seconds: float) -> Measured:
    """Measures one row and one commit at a time, the floor of a lone stake."""
    connection = await connect_asyncpg(url)
    try:
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS plain_commit (no bigint GENERATED ALWAYS AS IDENTITY, at text)"
        )
        insert = await connection.prepare("INSERT INTO plain_commit (at) VALUES ($1)")

        async def one(_caller: int, turn: int) -> int:
            await insert.fetch(str(turn))
            return 1

        return await measure("one plain commit at a time", 1, seconds, one)
    finally:
        await connection.close()


class Tables:
    """Players in sessions at a few tables, and their stakes."""

    def __init__(self, client: WalletClient, seats: list[list[Seat]]) -> None:
        self._client = client
        self._health = client.health
        self._seats = seats
        self._made = 0
        self._staked = [0] * TABLES

    @classmethod
    async def open(cls, client: WalletClient) -> Tables:
        seats = []
        for table in range(TABLES):
            await client.open_table(f"bench-{table}")
            players = [f"bench-{table}-{player}" for player in range(PLAYERS_PER_TABLE)]
            seated: list[Seat] = []
            for first in range(0, len(players), CONCURRENT_SEATINGS):
                some = players[first : first + CONCURRENT_SEATINGS]
                seated += await client.sit_down_all(some, f"bench-{table}", 10**10)
            seats.append(seated)
        return cls(client, seats)

    async def place_stake(self, caller: int, turn: int) -> int:
        """Places one stake in one call."""
        table = caller % TABLES
        seat = self._seats[table][(caller // TABLES * 16 + turn) % PLAYERS_PER_TABLE]
        order = self._order(seat)
        request = wallet_pb2.PlaceStakeRequest(round=self._round(table, 1), order=order)
        await self._client.wallet.PlaceStake(request, metadata=self._client.game)
        return 1

    async def empty_call(self, _caller: int, _turn: int) -> int:
        """Makes a call that is answered from memory, the floor of every call."""
        await self._health.Check(health_pb2.HealthCheckRequest())
        return 1

    async def place_stakes(self, caller: int, _turn: int) -> int:
        """Places a stake of every player at a table in one call."""
        table = caller % TABLES
        orders = [self._order(seat) for seat in self._seats[table][:ORDERS_PER_CALL]]
        request = wallet_pb2.PlaceStakesRequest(round=self._round(table, len(orders)), orders=orders)
        answers = (await self._client.wallet.PlaceStakes(request, metadata=self._client.game)).answers
        refused = [answer for answer in answers if not answer.HasField("placed")]
        if refused:
            raise RuntimeError(f"a stake was refused: {refused[0]}")
        return len(answers)

    def _round(self, table: int, stakes: int) -> types_pb2.RoundRef:
        """A round with room for so many more stakes besides those on their way."""
        self._staked[table] += stakes
        number = self._staked[table] // (STAKES_LIMIT // 2)
        reference = types_pb2.TableRef(table_id=f"bench-{table}", epoch=1)
        return types_pb2.RoundRef(round_id=f"bench-{table}.{number}", table=reference)

    def _order(self, seat: Seat) -> wallet_pb2.StakeOrder:
        self._made += 1
        return wallet_pb2.StakeOrder(
            request_id=f"stake-{self._made:012d}",
            account_id=seat.account_id,
            session_id=seat.session_id,
            amount_cents=100,
            detail=b"red",
        )


async def wait_until_outbox_empty(owner_url: str) -> float:
    """Waits until every fact has left the outbox; returns the seconds."""
    started = time.perf_counter()
    connection = await connect_asyncpg(owner_url)
    try:
        while await connection.fetchval("SELECT EXISTS (SELECT 1 FROM outbox)"):
            await asyncio.sleep(0.05)
    finally:
        await connection.close()
    return time.perf_counter() - started


def migrate(owner_url: str) -> None:
    environment = {**os.environ, "FELTRO_WALLET_OWNER_URL": owner_url}
    subprocess.run([sys.executable, "-m", "services.kit.command", "migrate", "wallet"], check=True, env=environment)


@asynccontextmanager
async def ledger(postgres: EmbeddedPostgres, database: str) -> AsyncIterator[tuple[Tables, str]]:
    """A wallet on a new database with players at its tables, and the owner's URL of it; dropped afterwards."""
    postgres.ensure_database(database, OWNER, USER)
    owner_url = postgres.url(OWNER, database)
    migrate(owner_url)
    with ephemeral.nats() as nats, tempfile.TemporaryDirectory() as home:
        # The service's own audit takes a core for a while: it would slow down one phase alone.
        quiet = {"FELTRO_WALLET_AUDIT_EVERY_S": "86400"}
        process = WalletProcess(postgres.url(USER, database), nats.url, Path(home), quiet)
        process.start()
        try:
            await process.ready()
            async with process.client() as client:
                yield await Tables.open(client), owner_url
        finally:
            process.kill()
    postgres.drop_database(database)


async def bench(seconds: float, large_ledger: int) -> dict[str, float]:
    """Runs all phases on one server."""
    with ephemeral.postgres() as postgres:
        transactions = pgbench(postgres, int(seconds))
        async with ledger(postgres, DATABASE) as (tables, owner_url):
            single = await measure_single_stakes(tables, owner_url, seconds)
        # A new ledger: the first has grown.
        async with ledger(postgres, f"{DATABASE}_growing") as (tables, owner_url):
            # A phase as a warm-up would leave more entries than a small ledger holds.
            await asyncio.gather(*(tables.place_stakes(table, 0) for table in range(TABLES)))
            small = await measure_batches(tables, postgres, owner_url, seconds, SMALL_LEDGER)
            large = await measure_batches(tables, postgres, owner_url, seconds, large_ledger)
    return {
        "wallet-unary-to-tpcb": single.unary.rate / transactions.rate,
        "wallet-unary-to-empty-calls": single.unary.rate / single.empty_calls.rate,
        "wallet-empty-calls-to-tpcb": single.empty_calls.rate / transactions.rate,
        "wallet-batch-to-tpcb": small.rate / transactions.rate,
        "wallet-lone-p99-to-commit-p99": single.lone.percentile_ms(0.99) / single.commit.percentile_ms(0.99),
        "wallet-lone-p50-to-commit-p50": single.lone.percentile_ms(0.5) / single.commit.percentile_ms(0.5),
        "wallet-batch-large-to-small-ledger": large.rate / small.rate,
    }


@dataclass(frozen=True, slots=True)
class SingleStakes:
    """The results for stakes with a call each, and for the least that they could cost."""

    commit: Measured
    lone: Measured
    unary: Measured
    empty_calls: Measured


async def measure_single_stakes(tables: Tables, owner_url: str, seconds: float) -> SingleStakes:
    """Measures plain commits, lone stakes, stakes of many callers with one call each, and as many empty calls."""
    await measure("(warming up)", UNARY_CALLERS, seconds / 4, tables.place_stake)
    commit = await plain_commits(owner_url, seconds / 2)
    await measure("(an empty gRPC call at a time)", 1, seconds / 4, tables.empty_call)
    lone = await measure("one stake at a time", 1, seconds / 2, tables.place_stake)
    unary = await measure("(b) PlaceStake, unary, 64 callers", UNARY_CALLERS, seconds, tables.place_stake)
    await wait_until_outbox_empty(owner_url)
    empty_calls = await measure("empty gRPC calls, 64 callers", UNARY_CALLERS, seconds / 2, tables.empty_call)
    return SingleStakes(commit, lone, unary, empty_calls)


async def measure_batches(
    tables: Tables, postgres: EmbeddedPostgres, owner_url: str, seconds: float, entries: int
) -> Measured:
    """Measures stakes as a game service sends them, on a ledger of so many entries."""
    await wait_until_outbox_empty(owner_url)
    await ledger_history.fill(owner_url, entries - await ledger_history.count(owner_url))
    # Pages that loading left dirty would be written during the phase.
    postgres.sql("CHECKPOINT")
    before, callers = await ledger_history.count(owner_url), TABLES * CALLS_PER_TABLE
    name = f"(c) PlaceStakes, {callers} callers, {ORDERS_PER_CALL} stakes a call"
    measured = await measure(name, callers, seconds, tables.place_stakes)
    waited = await wait_until_outbox_empty(owner_url)
    print(f"      entries in the ledger: {before} before, {await ledger_history.count(owner_url)} after")
    print(f"      its facts were delivered {waited:.1f} s after the last acknowledgement", flush=True)
    return measured


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-wallet", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each phase")
    parser.add_argument("--entries", type=int, default=LARGE_LEDGER, help="of the large ledger")
    options = parser.parse_args()
    ratios = uvloop.run(bench(options.seconds, options.entries))
    for name, value in ratios.items():
        print(f"ratio {name} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
