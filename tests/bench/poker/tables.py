"""Live tables of poker with bots in one process, beside the wallet alone in the same run."""

from __future__ import annotations

import asyncio

import uvloop

from services.kit import background
from services.kit.supervision import prepare_memory
from services.kit.table.caves.table import CaveTable
from services.poker.messages import Brought, Outcome
from tests.bench.poker.bots import BenchPoker, fill_caves
from tests.bench.tables import bots, phases
from tests.bench.tables.bots import BotCounts
from tests.bench.tables.runtime import BenchTables, bench_tables


def ratios(number_of_tables: int, seconds: float) -> dict[str, float]:
    """Compares hands and decisions of live tables with the stakes of the wallet's batch."""
    # As in the service.
    prepare_memory()
    return uvloop.run(_ratios(number_of_tables, seconds))


async def _ratios(number_of_tables: int, seconds: float) -> dict[str, float]:
    game = BenchPoker()
    async with phases.running_servers() as servers:
        async with bench_tables(game, servers.postgres, servers.nats_url, servers.wallet) as tables:
            owned, memory = await phases.open_multi_player(tables, number_of_tables)
            live = [await each.table_for("") for each in owned]
            measured = await measure_caves(tables, [each for each in live if isinstance(each, CaveTable)], seconds)
        alone = await phases.wallet_alone(servers, seconds)
    found = {
        "poker-table-memory-kib": memory / 1024,
        "poker-decisions-to-wallet-batch": measured.decisions / measured.seconds / alone,
        "poker-hands-to-wallet-batch": measured.rounds_per_s / alone,
        "poker-cpu-to-all": measured.cpu_of_tables_to_all,
    }
    for part, share in measured.shares.items():
        found[f"poker-cpu-share-{part.replace(' ', '-')}"] = share
    return found


async def measure_caves(
    tables: BenchTables[Brought, Outcome], live: list[CaveTable[Brought, Outcome]], seconds: float
) -> phases.Phase:
    """Measures tables for money whose bots decide as soon as they are asked."""
    game, counts, tasks = tables.game, BotCounts(0), list[asyncio.Task[None]]()
    for number, table in enumerate(live):
        players = [f"{game.name}-{number}-{bot}" for bot in range(game.players)]
        await tables.seat_players(table, players)
        tasks += [asyncio.create_task(bots.decide(tables, table, player, counts)) for player in players]
        tasks.append(asyncio.create_task(fill_caves(table, players)))
    measured = await phases.measure_phase(
        f"{len(live)} tables of poker, {game.players} bots each", seconds, tables, tasks, counts
    )
    print(f"      refused: {counts.refused_decisions} decisions", flush=True)
    await background.cancel_and_wait(tasks)
    return measured
