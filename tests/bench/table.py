"""`make bench-table`: live tables with bots on the real wallet, beside the same wallet without tables in the same run.

Prints lines `ratio <name> <value>` at the end. The tables, their bots and the load generator of the wallet share the
machine with what they measure. Bots run in the process of the tables: the runtime is measured and not the way to it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import nats
import psutil
import uvloop

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from services.kit.clock import SystemClock
from services.kit.database import postgresql
from services.kit.randomness.source import Randomness
from services.kit.refusal import Refused
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.supervision import GC_YOUNG_THRESHOLD
from services.kit.table.banked.commands import BetCommand
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.events.own_views import BusOwnViews
from services.kit.table.events.publisher import EventStream
from services.kit.table.journal import postgres as postgres_journal
from services.kit.table.journal.entries import Drawn
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.seats import Seats
from services.kit.table.live.dependencies import RuntimeDependencies
from services.kit.table.live.individual_ids import IndividualTableIds
from services.kit.table.live.owned_tables import OwnedTables
from services.kit.table.live.table import LiveTable
from services.kit.table.wallet.grpc_client import GrpcWallet
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame, RouletteRules
from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.bench import wallet as wallet_bench
from tests.bench.cpu_shares import CpuShares
from tests.processes.roulette import configuration
from tests.processes.wallet import WalletClient, WalletProcess

OWNER, WALLET_USER, ROULETTE_USER = "feltro_owner", "feltro_wallet", "feltro_roulette"
WALLET_DATABASE, ROULETTE_DATABASE = "feltro_wallet", "feltro_roulette"
TABLES, BOTS_PER_TABLE = 200, 25
INDIVIDUAL_TABLES = 200
WINDOW_MS = 3_000
MONEY_CENTS = 10**10
SESSIONS_AT_ONCE = 64
WARM_UP_S = 4.0
POLL_EVERY_S = 0.05


class BenchCatalogue:
    """A catalogue whose rules depend on the name of the table."""

    def __init__(self, game: RouletteGame) -> None:
        self._multi = _configured(game, wallet_types.PLAY_MULTI_PLAYER)
        self._individual = _configured(game, wallet_types.PLAY_INDIVIDUAL)

    def rules_in_force(self, placement_id: str) -> VersionedRules[Bets, Outcome]:
        return self._individual if placement_id.startswith("solo") else self._multi

    async def rules_of_version(self, placement_id: str, version: int) -> VersionedRules[Bets, Outcome]:
        return self.rules_in_force(placement_id)

    def closed_reason(self, placement_id: str) -> str | None:
        return None

    def switch_off(self, placement_id: str | None, reason: str) -> None:
        raise RuntimeError(f"a table switched itself off: {reason}")


def _configured(game: RouletteGame, play: wallet_types.Play.ValueType) -> VersionedRules[Bets, Outcome]:
    entered = types_pb2.ConfigurationVersion(
        table_id="bench", version=1, configuration=configuration(play=play, window_ms=WINDOW_MS, minimum_cents=2)
    )
    return VersionedRules(entered, game.rules(entered.configuration))


class CountingJournal(PostgresJournal):
    """Counts the rounds that are drawn, and writes their entropy to `draws`, if there is a file."""

    rounds = 0
    draws: BinaryIO | None = None

    async def write_drawn(self, epoch: int, entry: Drawn) -> None:
        await super().write_drawn(epoch, entry)
        self.rounds += 1
        if self.draws is not None:
            self.draws.write(entry.entropy)


@dataclass
class BetCounts:
    """The stakes of the bots."""

    stakes: int = 0
    late_bets: int = 0
    latencies_s: list[float] | None = None


class BenchTables:
    """Tables and players in this process."""

    def __init__(self, dependencies: RuntimeDependencies[Bets, Outcome], client: WalletClient) -> None:
        self.dependencies = dependencies
        self._client = client
        self._leave = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, placement_ids: Sequence[str]) -> list[OwnedTables[Bets, Outcome]]:
        owned = [OwnedTables(placement_id, self.dependencies) for placement_id in placement_ids]

        async def announce(_epoch: int) -> None:
            return

        self._tasks += [asyncio.create_task(tables.run(announce, self._leave, asyncio.Event())) for tables in owned]
        for tables in owned:
            await tables.ready.wait()
        return owned

    async def seat_players(self, table: LiveTable[Bets, Outcome], player_ids: Sequence[str]) -> None:
        """Opens accounts with money, and starts sessions."""
        await self._client.sit_down_all(player_ids, table.table_id, MONEY_CENTS)
        for session in await self.dependencies.wallet.list_table_sessions(table.table_id):
            table.apply_session(session)

    async def stop(self) -> None:
        self._leave.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def signal_open_betting(table: LiveTable[Bets, Outcome], open_for_bets: asyncio.Event) -> None:
    """Wakes the bots of a table while it takes bets: bots that poll would cost more than their bets."""
    while True:
        if table.takes_bets:
            open_for_bets.set()
        else:
            open_for_bets.clear()
        await asyncio.sleep(POLL_EVERY_S)


async def bet(
    table: LiveTable[Bets, Outcome],
    open_for_bets: asyncio.Event,
    player_id: str,
    chance: random.Random,
    count: BetCounts,
) -> None:
    """Runs a bot at a multi-player table: the next bet follows as soon as the last one counts."""
    places = list(_rules(table).offered_places)
    made = 0
    while True:
        await open_for_bets.wait()
        round_ = table.round
        if round_ is None or not table.takes_bets:
            open_for_bets.clear()
            continue
        bets = {chance.choice(places): 2}
        made += 1
        started = time.perf_counter()
        try:
            open_round, seat = table.open_round_and_seat(round_.round_id, player_id)
            await open_round.place(seat, BetCommand(f"{round_.round_id} {made}", b""), bets)
        except Refused:
            count.late_bets += 1
            continue
        count.stakes += 1
        if count.latencies_s is not None:
            count.latencies_s.append(time.perf_counter() - started)


async def bet_and_spin(
    table: LiveTable[Bets, Outcome], player_id: str, chance: random.Random, count: BetCounts
) -> None:
    """Runs a bot at an individual table: it bets, spins, and begins again."""
    places = list(_rules(table).offered_places)
    while True:
        round_id = table.next_round_id
        if not table.takes_bets:
            await asyncio.sleep(POLL_EVERY_S / 10)
            continue
        open_round, seat = table.open_round_and_seat(round_id, player_id)
        await open_round.place(seat, BetCommand(round_id, b""), {chance.choice(places): 2})
        count.stakes += 1
        await table.trigger_draw(player_id, round_id)


def _rules(table: LiveTable[Bets, Outcome]) -> RouletteRules:
    rules = table.current_rules.rules
    if not isinstance(rules, RouletteRules):
        raise TypeError("not a roulette")
    return rules


@dataclass
class Phase:
    """The result of one phase."""

    name: str
    seconds: float
    stakes: int
    rounds: int
    cpu_s: dict[str, float]
    shares: dict[str, float]
    latencies_s: list[float]

    def report(self) -> None:
        ordered = sorted(self.latencies_s) or [0.0]
        p50, p99 = ordered[len(ordered) // 2] * 1e3, ordered[int(len(ordered) * 0.99)] * 1e3
        stakes, rounds = self.stakes / self.seconds, self.rounds / self.seconds
        print(f"  {self.name:<58}{stakes:>9.0f} stakes/s {rounds:>6.0f} rounds/s", flush=True)
        if self.latencies_s:
            print(f"      a bet counts after p50 {p50:.1f} ms, p99 {p99:.1f} ms")
        each = ", ".join(f"{who} {seconds / self.stakes * 1e6:.0f}" for who, seconds in self.cpu_s.items())
        print(f"      CPU µs per stake: {each}")
        parts = ", ".join(f"{what} {share:.0%}" for what, share in self.shares.items())
        print(f"      of the tables' process: {parts}", flush=True)


async def measure_phase(
    name: str, seconds: float, bots: Sequence[asyncio.Task[None]], count: BetCounts, journal: CountingJournal
) -> Phase:
    """Lets the bots play, and measures after a warm-up."""
    await asyncio.sleep(WARM_UP_S)
    stakes, rounds, used = count.stakes, journal.rounds, wallet_bench.cpu_seconds()
    count.latencies_s = []
    started = time.perf_counter()
    with CpuShares() as cpu_shares:
        while time.perf_counter() - started < seconds:
            await asyncio.sleep(0.1)
            for bot in bots:
                if bot.done():
                    bot.result()
    took = time.perf_counter() - started
    cpu = {
        "tables and bots" if who == "load generator" else who: used_now - used.get(who, 0.0)
        for who, used_now in wallet_bench.cpu_seconds().items()
    }
    measured = Phase(
        name, took, count.stakes - stakes, journal.rounds - rounds, cpu, cpu_shares.shares(), count.latencies_s
    )
    measured.report()
    return measured


def make_database(postgres: EmbeddedPostgres) -> None:
    postgres.ensure_database(ROULETTE_DATABASE, OWNER, ROULETTE_USER)
    environment = {**os.environ, "FELTRO_ROULETTE_OWNER_URL": postgres.url(OWNER, ROULETTE_DATABASE)}
    subprocess.run([sys.executable, "-m", "services.kit.command", "migrate", "roulette"], check=True, env=environment)


@asynccontextmanager
async def bench_tables(
    postgres: EmbeddedPostgres, nats_url: str, process: WalletProcess, draws: BinaryIO | None
) -> AsyncIterator[tuple[BenchTables, CountingJournal]]:
    """The runtime of the tables, put together as in a game service."""
    make_database(postgres)
    url = postgres.url(ROULETTE_USER, ROULETTE_DATABASE)
    writing = postgresql.connect(url, "bench journal", 1, settings=postgres_journal.WRITER_SETTINGS)
    reading = postgresql.connect(url, "bench", 8)
    journal = CountingJournal(writing, reading)
    journal.draws = draws
    bus = await nats.connect(nats_url)
    table_bus, game = EventStream(bus, "roulette"), RouletteGame()
    task = asyncio.create_task(journal.run())
    channel = RelayChannel(process.address)
    try:
        async with process.client() as client:
            dependencies = RuntimeDependencies(
                game=game,
                catalogue=BenchCatalogue(game),
                wallet=GrpcWallet(channel, lambda: client.game),
                journal=journal,
                randomness=Randomness(),
                clock=SystemClock(),
                publisher_of=lambda table_id, epoch: table_bus.open_publisher(table_id, 0, epoch),
                own_views=BusOwnViews(bus, game.name),
                seats=Seats(reading),
                individual_ids=IndividualTableIds(b"bench"),
            )
            tables = BenchTables(dependencies, client)
            yield tables, journal
            await tables.stop()
    finally:
        await background.cancel_and_wait([task])
        await channel.close()
        await bus.close()
        await writing.dispose()
        await reading.dispose()


async def measure_multi_player(
    tables: BenchTables, journal: CountingJournal, number_of_tables: int, bots_per_table: int, seconds: float
) -> tuple[Phase, float]:
    """Measures multi-player tables; also the memory of one of them."""
    gc.collect()
    memory = psutil.Process().memory_info().rss
    owned = await tables.open([f"multi-{number}" for number in range(number_of_tables)])
    gc.collect()
    each = (psutil.Process().memory_info().rss - memory) / number_of_tables
    count, bots = BetCounts(), []
    seated: list[tuple[LiveTable[Bets, Outcome], asyncio.Event, str]] = []
    for number, of_table in enumerate(owned):
        table = await of_table.table_for("")
        players = [f"bot-{number}-{bot}" for bot in range(bots_per_table)]
        await tables.seat_players(table, players)
        open_for_bets = asyncio.Event()
        bots.append(asyncio.create_task(signal_open_betting(table, open_for_bets)))
        seated += [(table, open_for_bets, player) for player in players]
        if number % 20 == 0:
            print(f"      {len(seated)} of {number_of_tables * bots_per_table} bots seated", flush=True)
    for number, (table, open_for_bets, player) in enumerate(seated):
        bots.append(asyncio.create_task(bet(table, open_for_bets, player, random.Random(number), count)))
    name = f"{number_of_tables} multi-player tables, {bots_per_table} bots each, {WINDOW_MS / 1e3:.0f} s to bet"
    measured = await measure_phase(name, seconds, bots, count, journal)
    print(f"      memory of an empty table: {each / 1024:.0f} KiB; {count.late_bets} bets were late")
    await background.cancel_and_wait(bots)
    return measured, each


async def measure_individual(
    tables: BenchTables, journal: CountingJournal, number_of_tables: int, seconds: float
) -> Phase:
    (owned,) = await tables.open(["solo"])
    count, bots = BetCounts(), []
    for number in range(number_of_tables):
        player = f"solo-{number}"
        table = await owned.table_for(player)
        await tables.seat_players(table, [player])
        bots.append(asyncio.create_task(bet_and_spin(table, player, random.Random(number), count)))
    measured = await measure_phase(f"{number_of_tables} individual tables", seconds, bots, count, journal)
    await background.cancel_and_wait(bots)
    return measured


async def bench(options: argparse.Namespace, draws: BinaryIO | None) -> dict[str, float]:
    """Runs all phases on one server."""
    with ephemeral.postgres() as postgres, ephemeral.nats() as bus, tempfile.TemporaryDirectory() as home:
        postgres.ensure_database(WALLET_DATABASE, OWNER, WALLET_USER)
        wallet_bench.migrate(postgres.url(OWNER, WALLET_DATABASE))
        quiet = {"FELTRO_WALLET_AUDIT_EVERY_S": "86400"}
        process = WalletProcess(postgres.url(WALLET_USER, WALLET_DATABASE), bus.url, Path(home), quiet)
        process.start()
        try:
            await process.ready()
            async with bench_tables(postgres, bus.url, process, draws) as (tables, journal):
                multi, memory = await measure_multi_player(
                    tables, journal, options.tables, options.bots, options.seconds
                )
                individual = await measure_individual(tables, journal, INDIVIDUAL_TABLES, options.seconds)
            await wallet_bench.wait_until_outbox_empty(postgres.url(OWNER, WALLET_DATABASE))
            postgres.sql("CHECKPOINT")
            alone = await ledger_alone(process, options.seconds)
        finally:
            process.kill()
    return {
        "table-stakes-to-wallet-batch": multi.stakes / multi.seconds / alone,
        "table-cpu-to-all": multi.cpu_s["tables and bots"] / sum(multi.cpu_s.values()),
        "individual-rounds-to-wallet-batch": individual.rounds / individual.seconds / alone,
        "table-memory-kib": memory / 1024,
    }


async def ledger_alone(process: WalletProcess, seconds: float) -> float:
    """Measures (c) of `make bench-wallet`: the same wallet without tables; stakes a second."""
    async with process.client() as client:
        tables = await wallet_bench.Tables.open(client)
        callers = wallet_bench.TABLES * wallet_bench.CALLS_PER_TABLE
        await wallet_bench.measure("(warming up)", callers, seconds / 4, tables.place_stakes)
        measured = await wallet_bench.measure(
            "PlaceStakes alone: (c) of bench-wallet", callers, seconds, tables.place_stakes
        )
        return measured.rate


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-table", description=__doc__)
    parser.add_argument("--seconds", type=float, default=12.0, help="of each phase")
    parser.add_argument("--tables", type=int, default=TABLES, help="multi-player tables")
    parser.add_argument("--bots", type=int, default=BOTS_PER_TABLE, help="at each of them")
    parser.add_argument("--draws", type=Path, help="a file to which the entropy of every draw is appended")
    options = parser.parse_args()
    # As in the service.
    gc.freeze()
    gc.set_threshold(GC_YOUNG_THRESHOLD, 20, 50)
    if options.draws is None:
        ratios = uvloop.run(bench(options, None))
    else:
        with options.draws.open("ab", buffering=0) as draws:
            ratios = uvloop.run(bench(options, draws))
    for name, value in ratios.items():
        print(f"ratio {name} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
