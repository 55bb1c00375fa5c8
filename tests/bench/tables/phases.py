"""Measures live tables with bots: stakes, rounds and decisions per second, and where the CPU time goes."""

from __future__ import annotations

import asyncio
import gc
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from services.kit import background
from services.kit.table.game import Bets, Outcome
from services.kit.table.owned.owned_tables import OwnedTables
from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.bench import wallet as wallet_bench
from tests.bench.tables import bots
from tests.bench.tables.bots import BotCounts, TableBots
from tests.bench.tables.cpu_shares import CpuShares
from tests.bench.tables.runtime import INDIVIDUAL, OWNER, BenchTables
from tests.processes.wallet import WalletProcess

WALLET_USER, WALLET_DATABASE = "feltro_wallet", "feltro_wallet"
TABLES = 200
WARM_UP_S = 4.0
# How many stakes each bot places in a round before betting closes; roulette's had time for as many when a clock closed
# it after three seconds. A clock measures something else on each machine and for each game: the sooner tables end their
# rounds, or the fewer players they have, the fewer stakes there are in a round, and the dearer each of them seems.
STAKES_PER_ROUND = 15
# In a second phase, to tell what a round costs from what a stake does.
FEW_STAKES_PER_ROUND = 3


@dataclass
class Phase:
    """The result of one phase."""

    name: str
    seconds: float
    stakes: int
    rounds: int
    decisions: int
    cpu_s: dict[str, float]
    shares: dict[str, float]
    counts: BotCounts

    @property
    def stakes_per_s(self) -> float:
        return self.stakes / self.seconds

    @property
    def rounds_per_s(self) -> float:
        return self.rounds / self.seconds

    @property
    def cpu_of_tables_to_all(self) -> float:
        return self.cpu_s["tables and bots"] / sum(self.cpu_s.values())

    def report(self) -> None:
        stakes, rounds, decisions = self.stakes_per_s, self.rounds_per_s, self.decisions / self.seconds
        more = f" {decisions:>6.0f} decisions/s" if decisions else ""
        print(f"  {self.name:<58}{stakes:>9.0f} stakes/s {rounds:>6.0f} rounds/s{more}", flush=True)
        for what, latencies_s in (("bet", self.counts.bets_s), ("decision", self.counts.decisions_s)):
            if latencies_s:
                ordered = sorted(latencies_s)
                p50, p99 = ordered[len(ordered) // 2] * 1e3, ordered[int(len(ordered) * 0.99)] * 1e3
                print(f"      a {what} counts after p50 {p50:.1f} ms, p99 {p99:.1f} ms")
        for what, count in (("stake", self.stakes), ("decision", self.decisions), ("round", self.rounds)):
            if count:
                each = ", ".join(f"{who} {used / count * 1e6:.0f}" for who, used in self.cpu_s.items())
                print(f"      CPU µs per {what}, all of it: {each}")
        parts = ", ".join(f"{what} {share:.0%}" for what, share in self.shares.items())
        print(f"      of the tables' process: {parts}", flush=True)


async def measure_phase(
    name: str,
    seconds: float,
    tables: BenchTables[Bets, Outcome],
    tasks: Sequence[asyncio.Task[None]],
    counts: BotCounts,
) -> Phase:
    """Lets the bots play, and measures after a warm-up."""
    journal = tables.journal
    await asyncio.sleep(WARM_UP_S)
    stakes, rounds, decisions, used = counts.stakes, journal.rounds, journal.decisions, wallet_bench.cpu_seconds()
    counts.reset_latencies()
    started = time.perf_counter()
    with CpuShares() as cpu_shares:
        while time.perf_counter() - started < seconds:
            await asyncio.sleep(0.1)
            for task in tasks:
                if task.done():
                    task.result()
    took = time.perf_counter() - started
    cpu = {
        "tables and bots" if who == "load generator" else who: used_now - used.get(who, 0.0)
        for who, used_now in wallet_bench.cpu_seconds().items()
    }
    measured = Phase(
        name,
        took,
        counts.stakes - stakes,
        journal.rounds - rounds,
        journal.decisions - decisions,
        cpu,
        cpu_shares.shares(),
        counts,
    )
    measured.report()
    return measured


async def open_multi_player(
    tables: BenchTables[Bets, Outcome], number_of_tables: int
) -> tuple[list[OwnedTables[Bets, Outcome]], float]:
    """Opens multi-player tables; also the bytes that one of them takes."""
    placement_ids = [f"multi-{tables.game.name}-{number}" for number in range(number_of_tables)]
    # The first allocates what all share.
    owned = await tables.open(placement_ids[:1])
    gc.collect()
    memory = psutil.Process().memory_info().rss
    owned += await tables.open(placement_ids[1:])
    gc.collect()
    each = (psutil.Process().memory_info().rss - memory) / max(len(placement_ids) - 1, 1)
    print(f"  memory of an empty table of {tables.game.name}: {each / 1024:.0f} KiB")
    return owned, each


async def measure_multi_player(
    tables: BenchTables[Bets, Outcome],
    owned: Sequence[OwnedTables[Bets, Outcome]],
    bots_per_table: int,
    seconds: float,
) -> Phase:
    """Measures multi-player tables whose bots bet as fast as they can, and decide as soon as they are asked.

    Prints what a round and a stake cost each, from a second phase with few stakes in a round.
    """
    game, counts, chances = tables.game, BotCounts(STAKES_PER_ROUND), random.Random(1)
    seated: list[TableBots[Bets, Outcome]] = []
    deciding: list[asyncio.Task[None]] = []
    for number, of_table in enumerate(owned):
        table = await of_table.table_for("")
        players = [f"{game.name}-{number}-{bot}" for bot in range(bots_per_table)]
        await tables.seat_players(table, players)
        seated.append(TableBots(game, table, players, random.Random(chances.random()), counts))
        if game.game.has_decisions:
            deciding += [asyncio.create_task(bots.decide(tables, table, player, counts)) for player in players]
        if number % 20 == 0:
            print(f"      {(number + 1) * bots_per_table} of {len(owned) * bots_per_table} bots seated", flush=True)
    playing = [asyncio.create_task(bots_of_table.play()) for bots_of_table in seated]
    tasks = [*deciding, *playing]
    name = f"{len(owned)} tables of {game.name}, {bots_per_table} bots each"
    measured = await measure_phase(f"{name}, {STAKES_PER_ROUND} stakes a round", seconds, tables, tasks, counts)
    counts.stakes_per_round = FEW_STAKES_PER_ROUND
    few = await measure_phase(f"{name}, {FEW_STAKES_PER_ROUND} stakes a round", seconds, tables, tasks, counts)
    report_costs(measured, few)
    print(f"      refused: {counts.refused_bets} bets, {counts.refused_decisions} decisions", flush=True)
    # A round with stakes would stay open until its window closes, and its table as long.
    counts.goes_on = False
    await asyncio.gather(*playing)
    await background.cancel_and_wait(deciding)
    return measured


def report_costs(many: Phase, few: Phase) -> None:
    """Prints what a stake and what a round takes of each process, from phases with many and with few stakes in one."""
    determinant = many.stakes * few.rounds - few.stakes * many.rounds
    if not determinant:
        return
    costs = {who: (many.cpu_s[who], few.cpu_s.get(who, 0.0)) for who in many.cpu_s}
    of_stake = {who: (of_many * few.rounds - of_few * many.rounds) for who, (of_many, of_few) in costs.items()}
    of_round = {who: (of_few * many.stakes - of_many * few.stakes) for who, (of_many, of_few) in costs.items()}
    for what, of_what in (("stake without its round", of_stake), ("round without its stakes", of_round)):
        each = ", ".join(f"{who} {cost / determinant * 1e6:.0f}" for who, cost in of_what.items())
        print(f"      CPU µs of a {what}: {each}", flush=True)


async def measure_individual(tables: BenchTables[Bets, Outcome], number_of_tables: int, seconds: float) -> Phase:
    """Measures individual tables of a game without decisions."""
    (owned,) = await tables.open([INDIVIDUAL])
    counts, tasks = BotCounts(1), []
    for number in range(number_of_tables):
        player = f"{INDIVIDUAL}-{number}"
        table = await owned.table_for(player)
        await tables.seat_players(table, [player])
        bot = bots.bet_and_draw(tables.game, table, player, random.Random(number), counts)
        tasks.append(asyncio.create_task(bot))
    measured = await measure_phase(f"{number_of_tables} individual tables", seconds, tables, tasks, counts)
    await background.cancel_and_wait(tasks)
    return measured


@dataclass(frozen=True)
class Servers:
    """What tables need: a database server, a bus and the wallet."""

    postgres: EmbeddedPostgres
    nats_url: str
    wallet: WalletProcess


@asynccontextmanager
async def running_servers() -> AsyncIterator[Servers]:
    """Runs the servers of a bench of live tables."""
    with ephemeral.postgres() as postgres, ephemeral.nats() as bus, tempfile.TemporaryDirectory() as home:
        postgres.ensure_database(WALLET_DATABASE, OWNER, WALLET_USER)
        wallet_bench.migrate(postgres.url(OWNER, WALLET_DATABASE))
        quiet = {"FELTRO_WALLET_AUDIT_EVERY_S": "86400"}
        process = WalletProcess(postgres.url(WALLET_USER, WALLET_DATABASE), bus.url, Path(home), quiet)
        process.start()
        try:
            await process.ready()
            yield Servers(postgres, bus.url, process)
        finally:
            process.kill()


async def wallet_alone(servers: Servers, seconds: float) -> float:
    """Measures (c) of `make bench-wallet`: the same wallet without tables; stakes a second."""
    await wallet_bench.wait_until_outbox_empty(servers.postgres.url(OWNER, WALLET_DATABASE))
    servers.postgres.sql("CHECKPOINT")
    async with servers.wallet.client() as client:
        tables = await wallet_bench.Tables.open(client)
        callers = wallet_bench.TABLES * wallet_bench.CALLS_PER_TABLE
        await wallet_bench.measure("(warming up)", callers, seconds / 4, tables.place_stakes)
        measured = await wallet_bench.measure(
            "PlaceStakes alone: (c) of bench-wallet", callers, seconds, tables.place_stakes
        )
        return measured.rate
