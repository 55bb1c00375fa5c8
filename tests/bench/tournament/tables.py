"""Tables of a tournament with bots, beside tables for money with the same bots, in one process and one run."""

from __future__ import annotations

import asyncio
import gc
import itertools

import psutil
import uvloop

from services.kit import background
from services.kit.supervision import prepare_memory
from services.kit.table.caves.table import CaveTable
from services.kit.table.chips.owned_tables import OwnedChipTables
from services.kit.table.live.table import LiveTable
from services.poker.messages import Brought, Outcome
from services.poker.tournament.levels import Level
from tests.bench.poker.bots import PLAYERS, BenchPoker
from tests.bench.poker.tables import measure_caves
from tests.bench.tables import bots, phases
from tests.bench.tables.bots import BotCounts
from tests.bench.tables.runtime import BenchTables, bench_tables
from tests.bench.tournament import opening

TOURNAMENT_ID = "bench"
# Nobody loses so much while it is measured: everybody stays in.
STACK, BIG_BLIND = 100_000_000, 2
LOOKS_EVERY_S = 0.05


class SmallRaises(BenchPoker):
    """The bots of `make bench-poker`, but that they raise as little as possible."""

    def _part(self) -> float:
        return 0.0


def ratios(number_of_tables: int, seconds: float) -> dict[str, float]:
    """Compares hands of tournament tables with hands of tables for money."""
    # As in the service.
    prepare_memory()
    return uvloop.run(_ratios(number_of_tables, seconds))


async def _ratios(number_of_tables: int, seconds: float) -> dict[str, float]:
    game = SmallRaises()
    async with phases.running_servers() as servers:
        async with bench_tables(game, servers.postgres, servers.nats_url, servers.wallet) as tables:
            tournament, memory = await _measure_tournament(tables, number_of_tables, seconds)
        async with bench_tables(game, servers.postgres, servers.nats_url, servers.wallet) as tables:
            owned, _ = await phases.open_multi_player(tables, number_of_tables)
            live = [await each.table_for("") for each in owned]
            cash = await measure_caves(tables, [each for each in live if isinstance(each, CaveTable)], seconds)
    hand_s, cash_hand_s = (sum(phase.cpu_s.values()) / phase.rounds for phase in (tournament, cash))
    found = {
        "tournament-hands-to-cash-hands": tournament.rounds_per_s / cash.rounds_per_s,
        "tournament-decisions-to-cash-decisions": _per_s(tournament) / _per_s(cash),
        "tournament-hand-cpu-to-cash-hand": hand_s / cash_hand_s,
        "tournament-player-memory-kib": memory / 1024,
    }
    for part, share in tournament.shares.items():
        found[f"tournament-cpu-share-{part.replace(' ', '-')}"] = share
    return found


def _per_s(phase: phases.Phase) -> float:
    return phase.decisions / phase.seconds


async def _measure_tournament(
    tables: BenchTables[Brought, Outcome], number_of_tables: int, seconds: float
) -> tuple[phases.Phase, float]:
    """Plays a tournament of so many full tables; also returns the bytes that one of its players takes."""
    count = number_of_tables * PLAYERS
    levels = (Level(BIG_BLIND // 2, BIG_BLIND, 86_400),)
    rules = opening.rules_when_full(
        count, seats=PLAYERS, starting_stack=STACK, levels=levels, decision_time_seconds=20, time_bank_seconds=0
    )
    configured = opening.configuration(rules)
    director = opening.director_of(tables, TOURNAMENT_ID, configured)
    players = [f"t-{number}" for number in range(count)]
    await opening.open_accounts(tables, players)
    for player in players:
        # What a bot is asked in the first hand waits for it.
        tables.own_views.read_by(player)
    gc.collect()
    before = psutil.Process().memory_info().rss
    owned = await tables.open_tournament(TOURNAMENT_ID, configured, director)
    await opening.register(director, players)
    live = await _until_all_play(owned, number_of_tables)
    gc.collect()
    memory = (psutil.Process().memory_info().rss - before) / count
    print(f"  memory of a player with the share of a table: {memory / 1024:.0f} KiB", flush=True)
    counts, tasks = BotCounts(0), list[asyncio.Task[None]]()
    for table, player in itertools.product(live, players):
        if table.seat_of(player) is not None:
            tasks.append(asyncio.create_task(bots.decide(tables, table, player, counts)))
    name = f"a tournament of {number_of_tables} tables of {PLAYERS} bots"
    measured = await phases.measure_phase(name, seconds, tables, tasks, counts)
    print(f"      refused: {counts.refused_decisions} decisions", flush=True)
    await background.cancel_and_wait(tasks)
    return measured, memory


async def _until_all_play(
    owned: OwnedChipTables[Brought, Outcome], number_of_tables: int
) -> list[LiveTable[Brought, Outcome]]:
    """Waits until the first hands are dealt at all tables."""
    while True:
        live = list(owned.tables().values())
        if len(live) == number_of_tables and all(table.hand is not None for table in live):
            return live
        await asyncio.sleep(LOOKS_EVERY_S)
